import { beforeEach, describe, expect, it } from 'vitest';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { toOpenAiLogprobs } from '../../src/recordings/spoken-tokens.ts';
import { type RecordingTask, type Segment, transcribeRecording } from '../../src/recordings/transcribe.ts';
import { FakeClock } from '../fakes/clock.ts';
import { concat, FakeEngine, silence, spoken } from '../fakes/engine.ts';

const encoder = new TextEncoder();

let engine: FakeEngine;
let told: Segment[];

beforeEach(() => {
  engine = new FakeEngine(new FakeClock());
  told = [];
});

/** Each clip's tokens have this logarithm of probability. */
function sure(logprob: number | null, tokens = 12): void {
  engine.hear = () => ({
    text: 'one two',
    tokens: Array.from({ length: tokens }, (_, index) => index),
    logprobs: logprob === null ? null : new Float32Array(tokens).fill(logprob),
    pieces: [' one', ' t', 'wo'].map((piece) => encoder.encode(piece)),
  });
}

function transcribe(task: Partial<RecordingTask> = {}, parts = 3) {
  const part = () => concat(spoken([1, 2]), silence(4000));
  const samples = concat(...Array.from({ length: parts }, part));
  async function* decode() {
    yield { channels: [samples], share: 1 };
  }
  return transcribeRecording(
    {
      path: 'a.wav',
      workFolder: '/tmp',
      channels: 'mix',
      tenant: 't',
      signal: new AbortController().signal,
      onSegment: (segment) => told.push(segment),
      ...task,
    },
    { engine, decoders: { decode }, settings: readSettings({}) },
  );
}

describe('a recording in another language', () => {
  it('has no text, no language and a warning', async () => {
    sure(-1.3);
    const transcript = await transcribe();
    expect(transcript).toMatchObject({ spokenLanguage: null, segments: [] });
    expect(transcript.warning).toContain('language');
    expect(told).toEqual([]);
  });

  it('has text where its language is given, and the warning', async () => {
    sure(-1.3);
    const transcript = await transcribe({ isLanguageGiven: true });
    expect(transcript.spokenLanguage).toBe('en');
    expect(transcript.segments.length).toBeGreaterThan(0);
    expect(told).toEqual(transcript.segments);
    expect(transcript.warning).toContain('language');
  });
});

describe('a recording whose language the recogniser finds out', () => {
  it('keeps it over one short clip that seems to be in another, and changes it with the second', async () => {
    engine.languages = ['en', 'de'];
    const heard = ['de', 'de', 'en', 'de', 'en', 'en'];
    engine.hear = ({ language }) => {
      const found = language ?? heard.shift() ?? '';
      return { text: found === 'de' ? 'ja genau' : 'yes sure', ...(language === undefined && { language: found }) };
    };
    const transcript = await transcribe({}, heard.length);
    expect(transcript.segments.map(({ text, language }) => [text, language])).toEqual([
      ['ja genau', 'de'],
      ['ja genau', 'de'],
      ['ja genau', 'de'],
      ['ja genau', 'de'],
      ['ja genau', 'de'],
      ['yes sure', 'en'],
    ]);
    expect(transcript.spokenLanguage).toBe('de');
    expect(told).toEqual(transcript.segments);
  });
});

describe('a recording whose language is not understood', () => {
  it('is refused, also where the recogniser is another one than when it was taken', async () => {
    await expect(transcribe({ language: 'fr' })).rejects.toMatchObject({ code: 'unsupported_language' });
    expect(engine.transcribed).toEqual([]);
    await expect(transcribe({ language: 'auto' })).resolves.toMatchObject({ spokenLanguage: 'en' });
  });
});

describe('a recording that another recogniser read than confidence was fitted to', () => {
  it('has its text at any probability, which is told, and no confidence', async () => {
    const words = [
      { text: 'one', startMs: 0, endMs: 100, probability: 0.2 },
      { text: 'two', startMs: 100, endMs: 200, probability: 0.2 },
    ];
    const logprobs = new Float32Array(60).fill(-3);
    engine.hear = () => ({ text: 'one two', tokens: [1, 2], logprobs, words, isCalibrated: false });
    const transcript = await transcribe();
    expect(transcript).toMatchObject({ spokenLanguage: 'en' });
    expect(transcript.warning).toBeUndefined();
    expect(transcript.segments[0]).toMatchObject({ avgLogprob: -3, isCalibrated: false, wordTimes: 'aligned' });
    expect(transcript.segments.flatMap((segment) => segment.words).some((word) => 'confidence' in word)).toBe(false);
    expect(told).toEqual(transcript.segments);
  });
});

describe('a recording', () => {
  it.each([-0.1, -0.4, null])('has its text and no warning at %s', async (logprob) => {
    sure(logprob);
    const transcript = await transcribe();
    expect(transcript.spokenLanguage).toBe('en');
    expect(transcript.warning).toBeUndefined();
    expect(told).toEqual(transcript.segments);
    expect(told.length).toBeGreaterThan(0);
  });

  it('says how probable the tokens of each segment were', async () => {
    sure(-0.25, 3);
    const [segment] = (await transcribe({ spelled: true })).segments;
    expect(segment?.avgLogprob).toBe(-0.25);
    expect(toOpenAiLogprobs(segment?.tokens ?? [])).toEqual([
      { token: 'one', logprob: -0.25, bytes: [...encoder.encode('one')] },
      { token: ' t', logprob: -0.25, bytes: [...encoder.encode(' t')] },
      { token: 'wo', logprob: -0.25, bytes: [...encoder.encode('wo')] },
    ]);
  });

  it('begins a later segment with what parts it from the one before', () => {
    const token = { bytes: [...encoder.encode('one')], logprob: -1 };
    expect(toOpenAiLogprobs([token], ' ')[0]).toEqual({ token: ' one', logprob: -1, bytes: [32, ...token.bytes] });
  });

  it('has no probabilities from a recogniser without', async () => {
    sure(null);
    const [segment] = (await transcribe()).segments;
    expect(segment).not.toHaveProperty('avgLogprob');
    expect(segment).not.toHaveProperty('tokens');
  });
});
