import { describe, expect, it } from 'vitest';
import { FILE_ENDINGS, FILE_FORMATS, writeRecording } from '../../src/cli/transcribe-formats.ts';
import type { RecordingTranscript } from '../../src/recordings/transcribe.ts';

function segment(channel: number, text: string, startMs: number): RecordingTranscript['segments'][number] {
  const endMs = startMs + 1000;
  const words = [{ text, spaced: true, startMs, endMs }];
  return { channel, text, startMs, endMs, words, wordTimes: 'estimated' };
}

const RECORDING: RecordingTranscript = {
  durationMs: 6000,
  spokenLanguage: 'en',
  segments: [segment(0, 'Hello.', 500), segment(1, 'Good morning.', 2000)],
};
const SILENCE: RecordingTranscript = { durationMs: 1000, spokenLanguage: 'en', segments: [] };

describe('a recording on the command line', () => {
  it('is one JSON object a line, whose captions name their channel only where channels are apart', () => {
    const mixed = writeRecording(RECORDING, { file: 'a.wav', format: 'json', channels: 'mix' });
    expect(mixed.endsWith('\n')).toBe(true);
    expect(mixed.trim()).not.toContain('\n');
    expect(JSON.parse(mixed)).toEqual({
      file: 'a.wav',
      durationMs: 6000,
      captions: [
        { text: 'Hello.', startMs: 500, endMs: 1500 },
        { text: 'Good morning.', startMs: 2000, endMs: 3000 },
      ],
    });
    const split = JSON.parse(writeRecording(RECORDING, { file: 'a.wav', format: 'json', channels: 'split' }));
    expect(split.captions.map(({ channel }: { channel: number }) => channel)).toEqual([1, 2]);
  });

  it('is a line with its time for each caption as text', () => {
    expect(writeRecording(RECORDING, { file: 'a.wav', format: 'text', channels: 'mix' })).toMatch(
      /^\[00:00\.500\] Hello\.\n\[00:02\.000\] Good morning\.\n$/,
    );
    expect(writeRecording(RECORDING, { file: 'a.wav', format: 'text', channels: 'split' })).toMatch(
      /^\[00:00\.500\] channel 1: Hello\.\n\[00:02\.000\] channel 2: Good morning\.\n$/,
    );
    expect(writeRecording(SILENCE, { file: 'a.wav', format: 'text', channels: 'mix' })).toBe('');
  });

  it.each(['srt', 'vtt'] as const)('is subtitles as %s', (format) => {
    const text = writeRecording(RECORDING, { file: 'a.wav', format, channels: 'mix' });
    expect(text).toMatch(/00:00:00[,.]500 --> 00:00:01[,.]500\nHello\./);
    expect(text.startsWith('WEBVTT')).toBe(format === 'vtt');
  });

  it('is what the HTTP API answers as verbose_json', () => {
    const text = writeRecording(RECORDING, { file: 'a.wav', format: 'verbose_json', channels: 'mix' });
    expect(JSON.parse(text)).toMatchObject({ task: 'transcribe', language: 'english', duration: 6 });
  });

  it('has a file ending of its own for each format', () => {
    expect(new Set(FILE_FORMATS.map((format) => FILE_ENDINGS[format])).size).toBe(FILE_FORMATS.length);
  });
});
