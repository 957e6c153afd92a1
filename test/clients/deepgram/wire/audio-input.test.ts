import { describe, expect, it } from 'vitest';
import { encodeG711 } from '../../../../src/audio/g711.ts';
import { packedMs } from '../../../../src/audio/opus-stream.ts';
import { pcm16ToSamples, samplesToPcm16 } from '../../../../src/audio/pcm.ts';
import { writeWav } from '../../../../src/audio/wav.ts';
import { AudioInput } from '../../../../src/clients/deepgram/wire/audio-input.ts';
import { MULAW_8K } from '../../../../src/foundation/units.ts';
import { oggFile, opusHead, opusPackets } from '../../../helpers/opus-sound.ts';
import { trackEntry, webmFile, webmHead } from '../../../helpers/webm.ts';

/** A file format that is not read, by its first bytes. */
const FOREIGN = [
  ['text', '{"type":"KeepAlive"}'],
  ['bytes of no known format', '\x01\x80\x02\x81\x03\x82\x04\x83\x05\x84\x06\x85'],
] as const;

const LEFT = Int16Array.of(100, 200, 300, 400);
const RIGHT = Int16Array.of(300, 400, 500, 600);
const BOTH = Int16Array.of(100, 300, 200, 400, 300, 500, 400, 600);

/** In pieces of `size` bytes. */
function pushAll(input: AudioInput, bytes: Uint8Array, size: number): Int16Array {
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += size) pieces.push(...input.push(bytes.subarray(from, from + size)));
  return pcm16ToSamples(Buffer.concat(pieces));
}

describe('the audio of a stream', () => {
  it('is passed on as it is where nothing is to be done', () => {
    const mono = new AudioInput({ encoding: 'mulaw', rateHz: 8000, channels: 1 }, false);
    const bytes = Uint8Array.of(1, 2, 3);
    expect(mono.push(bytes)).toEqual([bytes]);
    expect(mono.format).toEqual({ encoding: 'mulaw', rateHz: 8000, channels: 1 });
    const split = new AudioInput({ encoding: 'linear16', rateHz: 8000, channels: 2 }, true);
    expect(split.push(bytes)).toEqual([bytes]);
    expect(split.format.channels).toBe(2);
  });

  it.each([1, 3, 4, 100])('is mixed where channels are not read by themselves, in pieces of %i', (size) => {
    const input = new AudioInput({ encoding: 'linear16', rateHz: 8000, channels: 2 }, false);
    expect(input.format).toEqual({ encoding: 'linear16', rateHz: 8000, channels: 1 });
    expect(pushAll(input, samplesToPcm16(BOTH), size)).toEqual(Int16Array.of(200, 300, 400, 500));
  });

  it.each([1, 3, 8, 1000])('is made of floats, and silence of what is no number, in pieces of %i', (size) => {
    const floats = Buffer.from(Float32Array.of(0.5, -0.5, 1, -1, Number.NaN, 0, 2, 0).buffer);
    const mixed = new AudioInput({ encoding: 'linear32', rateHz: 16_000, channels: 2 }, false);
    expect(mixed.format).toEqual({ encoding: 'linear16', rateHz: 16_000, channels: 1 });
    expect(pushAll(mixed, floats, size)).toEqual(Int16Array.of(0, 0, 0, 16_384));
    const split = new AudioInput({ encoding: 'linear32', rateHz: 16_000, channels: 2 }, true);
    expect(split.format.channels).toBe(2);
    expect(pushAll(split, floats, size)).toEqual(Int16Array.of(16_384, -16_384, 32_767, -32_768, 0, 0, 32_767, 0));
    const mono = new AudioInput({ encoding: 'linear32', rateHz: 16_000, channels: 1 }, false);
    expect(pushAll(mono, floats, size)[0]).toBe(16_384);
  });

  it('is refused where the header of a file comes in more messages than any client sends', () => {
    const input = new AudioInput(null, false);
    input.push(Buffer.from('RIFF\xff\xff\xff\x7fWAVE', 'latin1'));
    const pushOn = () => {
      for (let message = 0; message < 2000; message++) input.push(Uint8Array.of(0));
    };
    expect(pushOn).toThrow('messages of a WAV header');
  });

  it('is mixed by its samples, not by its codes', () => {
    const input = new AudioInput({ encoding: 'mulaw', rateHz: 8000, channels: 2 }, false);
    const mixed = pushAll(input, encodeG711(Int16Array.of(8000, -8000), MULAW_8K), 1);
    expect(Math.abs(mixed[0] ?? Number.NaN)).toBeLessThan(10);
  });

  it.each([1, 7, 44, 1000])('is that of a WAV file without its header, in pieces of %i', (size) => {
    const file = writeWav([LEFT, RIGHT], 11_025);
    const mixed = new AudioInput(null, false);
    expect(pushAll(mixed, file, size)).toEqual(Int16Array.of(200, 300, 400, 500));
    expect(mixed.format).toEqual({ encoding: 'linear16', rateHz: 11_025, channels: 1 });
    const split = new AudioInput(null, true);
    expect(pushAll(split, file, size)).toEqual(BOTH);
    expect(split.format).toEqual({ encoding: 'linear16', rateHz: 11_025, channels: 2 });
  });

  it.each(FOREIGN)('is refused where it is %s', (name, text) => {
    const bytes = Buffer.from(text, 'latin1');
    const input = new AudioInput(null, false);
    expect(input.push(bytes.subarray(0, 5))).toEqual([]);
    expect(() => input.push(bytes.subarray(5))).toThrow(
      `got ${name}, expected WAV, MP3, FLAC, AAC, MP4, Ogg or WebM with Opus, or encoding and sample_rate`,
    );
  });

  it.each([
    ['Ogg', (packets: Uint8Array[]) => oggFile(packets, 2)],
    ['WebM', (packets: Uint8Array[]) => webmFile(packets, webmHead([trackEntry(1, 'A_OPUS', opusHead(2))]))],
  ] as const)('is of Opus in %s, whose channels are mixed or not', (_, fileOf) => {
    const packets = opusPackets(Int16Array.from({ length: 16_000 }, (__, at) => 8000 * Math.sin(at / 8)));
    const file = fileOf(packets);
    for (const multichannel of [false, true])
      for (const size of [13, 1000, file.length]) {
        const input = new AudioInput(null, multichannel);
        let ms = 0;
        for (let at = 0; at < file.length; at += size)
          for (const group of input.push(file.subarray(at, at + size))) ms += packedMs(group);
        expect(ms).toBe(1000);
        expect(input.format).toEqual({ encoding: 'opus', rateHz: 16_000, channels: multichannel ? 2 : 1 });
      }
  });

  it('is refused where it is no WAV file, or one that is not read', () => {
    expect(() => new AudioInput(null, false).push(Buffer.from('OggS and what follows'.padEnd(4000)))).toThrow(
      /expected Ogg with Opus/,
    );
    expect(() => new AudioInput(null, false).push(Buffer.from('\x1aE\xdf\xa3\0 WebM'.padEnd(400), 'latin1'))).toThrow(
      /expected WebM with Opus/,
    );
    expect(() => new AudioInput(null, false).push(writeWav([LEFT], 96_000))).toThrow(/96000 Hz/);
    const endless = new AudioInput(null, false);
    const head = Buffer.concat([
      Buffer.from('RIFF\xff\xff\xff\x7fWAVEjunk\xff\xff\xff\x7f', 'latin1'),
      Buffer.alloc(60_000),
    ]);
    endless.push(head);
    expect(() => endless.push(Buffer.alloc(10_000))).toThrow(/expected at most 65536/);
  });
});
