import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { ALAW_8K, type Codec, MULAW_8K } from '../../src/foundation/units.ts';
import { openSpeech, type Speech } from '../../src/speech/speech.ts';
import { TextStream } from '../../src/speech/text-stream.ts';
import { FakeClock } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';
import { readSettings } from '../helpers/settings.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'prompts-ahead-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function open(
  environment: Record<string, string> = {},
  log = createLog('silent'),
): Promise<{ speech: Speech; engine: FakeEngine }> {
  const clock = new FakeClock();
  const engine = new FakeEngine(clock);
  const speech = await openSpeech({ settings: readSettings(environment), engine, metrics: new Metrics(), clock, log });
  return { speech, engine };
}

async function say(speech: Speech, text: string, codec: Codec = MULAW_8K): Promise<void> {
  const voice = await speech.calls.voices.resolve({});
  const signal = new AbortController().signal;
  const options = { codec, urgency: 'speak', dueInMs: () => 0, signal } as const;
  for await (const { parts } of speech.calls.synthesize(TextStream.of(text), voice, options))
    for await (const _ of parts);
}

describe('prompts made ahead', () => {
  it('are made once, and a restart finds all of them, also where the folder was full of others', async () => {
    const environment = { PROMPT_CACHE_DIR: join(directory, 'cache'), PROMPT_CACHE_DIR_BYTES: '65536' };
    const texts = [{ text: 'Welcome to the harbor.' }, { text: 'Press one for boats. Press two for tea.' }];
    const first = await open(environment);
    first.speech.ahead.keep('flow shop', texts);
    expect(await first.speech.ahead.make('flow shop')).toEqual({ texts: 2, sentences: 3, made: 3, failed: 0 });
    for (let n = 0; n < 40; n++) await say(first.speech, `Something else that is said, number ${n}.`);
    await first.speech.close();

    const second = await open(environment);
    second.speech.ahead.keep('flow shop', texts);
    for (let n = 0; n < 40; n++) await say(second.speech, `Something new that is said, number ${n}.`);
    const spoken = second.engine.spoken.length;
    expect(await second.speech.ahead.make('flow shop')).toEqual({ texts: 2, sentences: 3, made: 0, failed: 0 });
    expect(second.engine.spoken).toHaveLength(spoken);
    await second.speech.close();
  });

  it('tell how far they are', async () => {
    const { speech } = await open();
    speech.ahead.keep('flow shop', [{ text: 'One.' }, { text: 'Two.' }]);
    const told: string[] = [];
    await speech.ahead.make('flow shop', (done, all) => told.push(`${done} of ${all}`));
    expect(told).toEqual(['1 of 2', '2 of 2']);
  });

  it('are made in the codec of a call, too, once there is one', async () => {
    const { speech, engine } = await open();
    speech.ahead.keep('flow shop', [{ text: 'Welcome.' }]);
    await speech.ahead.make('flow shop');
    await say(speech, 'Hello.', ALAW_8K);
    expect(speech.ahead.codecs).toEqual([MULAW_8K, ALAW_8K]);
    await speech.ahead.make('flow shop');
    expect(engine.spoken.map(({ text }) => text)).toEqual(['Welcome.', 'Hello.', 'Welcome.']);
  });

  it('are told of once where they are more than may be kept, in memory and on disk', async () => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    const limits = { PROMPT_CACHE_BYTES: '65536', PROMPT_CACHE_DIR_BYTES: '65536' };
    const { speech } = await open({ PROMPT_CACHE_DIR: join(directory, 'small'), ...limits }, log);
    const texts = Array.from({ length: 60 }, (_, n) => ({ text: `Welcome to the harbor, boat number ${n}.` }));
    speech.ahead.keep('flow shop', texts);
    await speech.ahead.make('flow shop');
    await speech.close();
    expect(lines.toSorted()).toEqual([
      expect.stringContaining('more than is kept in PROMPT_CACHE_DIR: some of them are made again after a restart'),
      expect.stringContaining('more than is kept in memory: some of them are read from PROMPT_CACHE_DIR'),
    ]);
  });

  it('stay when the calls are forgotten in which they were said, until their owner lets go of them', async () => {
    const { speech } = await open();
    speech.ahead.keep('flow shop', [{ text: 'Welcome.' }]);
    expect(speech.sentencesOf('Welcome. It is late.')).toEqual(['It is late.']);
    speech.ahead.keep('flow shop', []);
    expect(speech.sentencesOf('Welcome. It is late.')).toEqual(['Welcome.', 'It is late.']);
  });
});
