import { beforeEach, describe, expect, it } from 'vitest';
import { readSettings } from '../../src/foundation/settings/config.ts';
import type { DecodedStretch } from '../../src/recordings/decode-messages.ts';
import { type RecordingTask, type Segment, transcribeRecording } from '../../src/recordings/transcribe.ts';
import { FakeClock } from '../fakes/clock.ts';
import { concat, FakeEngine, silence, spoken } from '../fakes/engine.ts';
import { eventually } from '../helpers/eventually.ts';

const STRETCH_SAMPLES = 16_000;

let engine: FakeEngine;
let progress: number[];
let segments: Segment[];

beforeEach(() => {
  engine = new FakeEngine(new FakeClock());
  progress = [];
  segments = [];
});

/** Transcribes `channels`, decoded a second at a time. */
function transcribe(channels: readonly Int16Array[], task: Partial<RecordingTask> = {}) {
  const length = channels[0]?.length ?? 0;
  async function* decode(): AsyncGenerator<DecodedStretch, void, void> {
    for (let at = 0; at < length; at += STRETCH_SAMPLES) {
      const stretch = channels.map((samples) => samples.slice(at, at + STRETCH_SAMPLES));
      yield { channels: stretch, share: Math.min(1, (at + STRETCH_SAMPLES) / length) };
    }
  }
  return transcribeRecording(
    {
      path: 'a.wav',
      workFolder: '/tmp',
      channels: channels.length > 1 ? 'split' : 'mix',
      tenant: 't',
      signal: new AbortController().signal,
      onProgress: ({ share }) => progress.push(share),
      onSegment: (segment) => segments.push(segment),
      ...task,
    },
    { engine, decoders: { decode }, settings: readSettings({}) },
  );
}

describe('transcribeRecording', () => {
  it('gives the segments as they come, the duration and the language', async () => {
    const samples = concat(spoken([1, 2]), silence(4000), spoken([3]), silence(600));
    const transcript = await transcribe([samples]);
    expect(transcript.segments.map(({ text }) => text)).toEqual(['W1 w2.', 'W3.']);
    expect(transcript).toMatchObject({ durationMs: Math.round(samples.length / 16), spokenLanguage: 'en' });
    expect(segments).toEqual(transcript.segments);
    expect(progress.at(-1)).toBe(1);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  });

  it('merges the channels by time', async () => {
    const left = concat(spoken([1]), silence(6000), spoken([3]), silence(2000));
    const right = concat(silence(3000), spoken([2]), silence(4000));
    const length = Math.max(left.length, right.length);
    const padded = [left, right].map((samples) => {
      const whole = new Int16Array(length);
      whole.set(samples);
      return whole;
    });
    const transcript = await transcribe(padded);
    expect(transcript.segments.map(({ channel, text }) => [channel, text])).toEqual([
      [0, 'W1.'],
      [1, 'W2.'],
      [0, 'W3.'],
    ]);
  });

  it.each([
    ['two clips at a time', undefined, 2],
    ['as many as an engine reads in one run', 4, 4],
  ])('gives engines %s', async (_what, batchMax, most) => {
    const clock = new FakeClock();
    engine = new FakeEngine(clock);
    engine.transcribeMs = 1000;
    Object.assign(engine, { batchMax });
    const words = [1, 2, 3, 4, 5, 6].flatMap((word) => [spoken([word]), silence(4000)]);
    const transcript = transcribe([concat(...words)]);
    await eventually(() => expect(engine.transcribed.length).toBe(most));
    for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    expect(engine.transcribed.length).toBe(most);
    await eventually(() => {
      clock.advance(1000);
      expect(segments.length).toBe(6);
    });
    expect((await transcript).segments.map(({ text }) => text)).toEqual(['W1.', 'W2.', 'W3.', 'W4.', 'W5.', 'W6.']);
  });

  it('has nothing to say of silence, and asks no recogniser', async () => {
    expect((await transcribe([silence(3000)])).segments).toEqual([]);
    expect(engine.transcribed).toEqual([]);
  });

  it('sends the end of a file that is no whole window', async () => {
    const transcript = await transcribe([concat(spoken([1, 2]), new Int16Array(7))]);
    expect(transcript.segments.map(({ text }) => text)).toEqual(['W1 w2.']);
  });

  it('tells that the engine failed', async () => {
    engine.failure = 'unavailable';
    await expect(transcribe([concat(spoken([1]), silence(1000))])).rejects.toMatchObject({
      code: 'engine_unavailable',
    });
  });

  it('fails with the reason of its signal', async () => {
    const stop = new AbortController();
    const reason = new Error('not wanted any more');
    engine.failure = 'unavailable';
    const stopped = transcribe([concat(spoken([1]), silence(1000))], { signal: stop.signal });
    stop.abort(reason);
    await expect(stopped).rejects.toBe(reason);
  });
});
