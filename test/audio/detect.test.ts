import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type AudioKind, DETECT_BYTES, detectAudio, looksLikeRecording } from '../../src/audio/detect.ts';
import { writeWav } from '../../src/audio/wav.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';

const fixture = (name: string) => readFileSync(packagePath('fixtures', 'audio', name)).subarray(0, DETECT_BYTES);
const ascii = (text: string) => new TextEncoder().encode(text);

/** An ID3v2 tag of `size` bytes after its header. */
function tagged(size: number, audio: Uint8Array): Uint8Array {
  const header = Uint8Array.of(
    0x49,
    0x44,
    0x33,
    4,
    0,
    0,
    (size >> 21) & 0x7f,
    (size >> 14) & 0x7f,
    (size >> 7) & 0x7f,
    size & 0x7f,
  );
  return Uint8Array.from([...header, ...new Uint8Array(size), ...audio]);
}

/** The head of a WAV file with this codec tag. */
function wavOf(tag: number): Uint8Array {
  return Uint8Array.from([
    ...ascii('RIFF'),
    0,
    0,
    1,
    0,
    ...ascii('WAVEfmt '),
    20,
    0,
    0,
    0,
    tag,
    0,
    1,
    0,
    0x40,
    0x1f,
    0,
    0,
  ]);
}

describe('detectAudio', () => {
  it.each<[string, Uint8Array, AudioKind]>([
    ['a WAV file', fixture('short.wav'), 'wav'],
    ['an MP3 file', fixture('short.mp3'), 'mp3'],
    ['a FLAC file', fixture('short.flac'), 'flac'],
    ['an Ogg Vorbis file', fixture('short.ogg'), 'vorbis'],
    ['an Ogg Opus file', fixture('short.opus'), 'opus'],
    ['an MP3 file behind a tag', tagged(300, fixture('short.mp3')), 'mp3'],
    ['a tag that goes on and on', tagged(100_000, new Uint8Array(0)).subarray(0, DETECT_BYTES), 'mp3'],
    ['a FLAC file behind a tag', tagged(300, fixture('short.flac')), 'flac'],
    ['a WAV file of GSM 6.10', wavOf(0x31), 'other'],
    ['a WAV file of A-law', wavOf(6), 'wav'],
    ['a WAV file that is cut off', wavOf(0x31).subarray(0, 20), 'wav'],
    ['an MP4 file', Uint8Array.from([0, 0, 0, 24, ...ascii('ftypM4A '), 0, 0, 0, 0]), 'other'],
    ['AAC in ADTS', Uint8Array.of(0xff, 0xf1, 0x50, 0x80, 0, 0, 0), 'other'],
    ['an Ogg file of another codec', ascii(`OggS${'\0'.repeat(24)}\x80theora`), 'other'],
    ['English', ascii('These are the minutes of the meeting.'), 'text'],
    ['Chinese', ascii('会议记录'), 'text'],
    ['UTF-16', Uint8Array.from([0xff, 0xfe, ...Buffer.from('Minutes of the meeting', 'utf16le')]), 'text'],
    ['JSON', ascii('{"error": 1}\n'), 'text'],
  ])('knows %s', (_what, bytes, kind) => {
    expect(detectAudio(bytes)).toBe(kind);
  });

  it('knows a WAV file of a single sample', () => {
    expect(detectAudio(writeWav([Int16Array.of(1)], 8000))).toBe('wav');
  });
});

describe('looksLikeRecording', () => {
  const ftyp = (brand: string) => Uint8Array.from([0, 0, 0, 24, ...ascii(`ftyp${brand}`), 0, 0, 0, 0]);
  const transportStream = new Uint8Array(600).map((_, at) => (at % 188 === 0 ? 0x47 : at % 251));

  it.each<[string, Uint8Array, boolean]>([
    ['WAV', fixture('short.wav'), true],
    ['MP3', fixture('short.mp3'), true],
    ['WAV of GSM 6.10', wavOf(0x31), true],
    ['M4A', ftyp('M4A '), true],
    ['WebM', Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42), true],
    ['AMR', Uint8Array.from([...ascii('#!AMR\n'), 0x3c, 0x91, 0x17, 0x16, 0xbe, 0x66, 0x79, 0xe1, 0xe0, 0x01]), true],
    ['AIFF', Uint8Array.from([...ascii('FORM'), 0, 0, 1, 0, ...ascii('AIFFCOMM')]), true],
    ['AAC in ADTS', Uint8Array.of(0xff, 0xf1, 0x50, 0x80, 0, 0, 0), true],
    ['an MPEG transport stream', transportStream, true],
    ['HEIC', ftyp('heic'), false],
    ['JPEG', Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 16, ...ascii('JFIF'), 0), false],
    ['PNG', Uint8Array.of(0x89, ...ascii('PNG'), 13, 10, 26, 10, 0, 0, 0, 13), false],
    ['a ZIP file', Uint8Array.of(0x50, 0x4b, 3, 4, 20, 0, 0, 0, 8, 0), false],
    ['a program', Uint8Array.of(0x7f, ...ascii('ELF'), 2, 1, 1, 0), false],
    ['text', ascii('Minutes of the meeting'), false],
    ['nothing', new Uint8Array(0), false],
  ])('tells whether %s is worth decoding', (_what, head, expected) => {
    expect(looksLikeRecording(head)).toBe(expected);
  });
});
