/**
 * Whole calls and recordings with real recognisers from folders. The models are tiny and say nonsense, each in letters
 * of its own, but everything around their words must be right.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { expectAsDescribed, finalsOf, partialsOf, RecogniserCalls, say } from './recogniser-calls.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'trunkline-tiny-'));
afterAll(() => rmSync(FOLDER, { recursive: true }));

const STREAMING = packagePath('fixtures', 'models', 'moonshine-streaming', 'ort-split');
const QWEN = packagePath('fixtures', 'models', 'qwen3-asr', 'float');
const WHISPER = packagePath('fixtures', 'models', 'whisper', 'window');
const PARAKEET = join(FOLDER, 'tiny-parakeet');
/** As the fixture, of two languages, for it does not say of which it is. */
cpSync(packagePath('fixtures', 'models', 'parakeet-tdt', 'float'), PARAKEET, { recursive: true });
const BRIDGE = join(PARAKEET, 'bridge.json');
writeFileSync(BRIDGE, JSON.stringify({ ...JSON.parse(readFileSync(BRIDGE, 'utf8')), languages: ['en', 'de'] }));

/** Languages of those that are told or find out which is spoken. */
const MANY: unknown = expect.arrayContaining(['en', 'de', 'zh']);

const SPOKEN_MS = 12 * 200;
const SPEECH = say([1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3]);

let calls: RecogniserCalls;
afterEach(() => calls.close());

interface VerboseAnswer {
  readonly language: string;
  readonly duration: number;
  readonly word_times: string;
  readonly words: readonly { readonly word: string; readonly start: number; readonly end: number }[];
  readonly segments: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Fails unless words are in order and inside of what was said. A tiny model looks anywhere for its words, so that times
 * by its attention are not believed.
 */
async function expectWordTimes(wordTimes: 'aligned' | 'estimated'): Promise<void> {
  const wanted = { response_format: 'verbose_json', 'timestamp_granularities[]': 'word', language: 'en' };
  const { status, body } = await calls.transcribe([...say([], 500), ...SPEECH], wanted);
  expect([status, body['language'], body['word_times']]).toEqual([200, 'english', wordTimes]);
  const { words, segments = [] } = body as unknown as VerboseAnswer;
  expect(words.length).toBeGreaterThan(3);
  let before = 0.4;
  for (const { start, end } of words) {
    expect(start).toBeGreaterThanOrEqual(before);
    expect(end).toBeGreaterThanOrEqual(start);
    before = start;
  }
  expect(Math.max(...words.map(({ end }) => end))).toBeLessThanOrEqual((500 + SPOKEN_MS + 200) / 1000);
  expect([...words, ...segments].some((part) => 'confidence' in part)).toBe(false);
}

const languagesOf = (events: readonly FeedEvent[]) =>
  events.flatMap((event) => (event.type === 'language' ? [[event.language, event.by]] : []));

describe.each([
  ['Moonshine streaming', STREAMING, 'ort-split', { languages: ['en'], wordTimes: 'estimated', heard: [] }],
  ['Parakeet', PARAKEET, 'tiny-parakeet', { languages: ['en', 'de'], wordTimes: 'aligned', heard: [] }],
  ['Qwen3-ASR', QWEN, 'float', { languages: MANY, wordTimes: 'estimated', heard: [] }],
  ['Whisper', WHISPER, 'window', { languages: MANY, wordTimes: 'estimated', heard: [['en', 'heard']] }],
] as const)('%s alone', (_title, folder, name, { languages, wordTimes, heard }) => {
  it('captions calls, and reads recordings', async () => {
    calls = await RecogniserCalls.open({ ASR_MODEL: folder });
    expect(await calls.ready(name)).toMatchObject({ reads: 'everything', languages });
    const events = await calls.call([...SPEECH, ...say([6, 7, 8, 9, 3, 2])]);
    expectAsDescribed(events);
    expect(partialsOf(events).length).toBeGreaterThan(2);
    expect(finalsOf(events)).toHaveLength(2);
    expect(finalsOf(events)).not.toContain('');
    for (const event of events)
      for (const mark of ['confidence', 'lowConfidence']) expect(event).not.toHaveProperty(mark);
    expect(languagesOf(events)).toEqual(heard);
    await expectWordTimes(wordTimes);
    expect((await calls.transcribe(SPEECH, { language: 'cy' })).body).toMatchObject({
      error: { code: 'unsupported_language', message: expect.stringContaining('"auto"') },
    });
  });
});

describe('Moonshine streaming with Parakeet', () => {
  it('goes on through the death of the second one, and has it back', async () => {
    calls = await RecogniserCalls.open({ ASR_MODEL: STREAMING, ASR_FINAL_MODEL: PARAKEET });
    await Promise.all([calls.ready('ort-split'), calls.ready('tiny-parakeet')]);
    const caller = calls.caller(Array.from({ length: 20 }, () => SPEECH).flat(), { parameters: { language: 'de' } });
    const run = caller.run();
    const { feed } = calls;
    await feed.until((event) => event.type === 'caption' && event.final);
    expect(await calls.fallbacks()).toBe(0);
    expect(await calls.change(caller.callSid, { language: 'fr' })).toMatchObject({
      status: 400,
      body: { error: { code: 'unsupported_language' } },
    });
    expect(await calls.change(caller.callSid, { language: 'English' })).toMatchObject({ status: 200 });
    await feed.until((event) => event.type === 'speech.started' && event.atMs > SPOKEN_MS);
    const before = await calls.enginePids();
    process.kill(before[1] ?? 0, 'SIGKILL');
    await feed.until((event) => event.type === 'caption' && event.final && event.utterance === 2);
    await expect.poll(() => calls.enginePids()).not.toEqual(before);
    await calls.ready('tiny-parakeet');
    const first = finalsOf(feed.events)[0] ?? '';
    await feed.until(
      (event) => event.type === 'caption' && event.final && event.utterance > 2 && isOf(first, event.text),
    );
    caller.hangup();
    await run;
    const events = await calls.endOf(caller);
    expectAsDescribed(events);
    expect(await calls.fallbacks()).toBeLessThan(finalsOf(events).length);
    expect(languagesOf(events)).toEqual([
      ['de', 'call'],
      ['en', 'api'],
    ]);
    expect(events.flatMap((event) => (event.type === 'gap' ? event : []))).toEqual([]);
    await expectWordTimes('aligned');
  });
});

/** Whether a text is by the same recogniser as another one: the tiny Parakeet writes words of a letter or two. */
function isOf(text: string, other: string): boolean {
  const isShort = (each: string) => each.split(' ').every((word) => word.length < 4);
  return isShort(text) === isShort(other);
}

describe('a recogniser that finds the language out', () => {
  it('settles it by two utterances, in calls and in recordings', async () => {
    const NODE_OPTIONS = `--import=${packagePath('test', 'fakes', 'polyglot.mjs')}`;
    calls = await RecogniserCalls.open({ ASR_MODEL: 'polyglot', JOIN_MS: '0', NODE_OPTIONS });
    await calls.ready('polyglot');
    const pause = 1200;
    const events = await calls.call([
      ...say([1, 2], pause),
      ...say([3, 4], pause),
      ...say([7, 8], pause),
      ...say([8, 9], pause),
    ]);
    expectAsDescribed(events);
    expect(languagesOf(events)).toEqual([
      ['en', 'heard'],
      ['de', 'heard'],
    ]);
    expect(finalsOf(events)).toEqual(['one two', 'three four', 'seven eight', 'acht neun']);
    const apart = 4000;
    const recording = [...say([7, 8], apart), ...say([9], apart), ...say([1], apart), ...say([6], apart)];
    expect((await calls.transcribe(recording, { response_format: 'verbose_json' })).body).toMatchObject({
      language: 'german',
      text: 'sieben acht neun eins sechs',
    });
    expect((await calls.transcribe(recording, { language: 'en' })).body).toMatchObject({
      text: 'seven eight nine one six',
    });
  });
});
