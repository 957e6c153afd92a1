import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { ConfigError, readSettings } from '../../src/foundation/settings/config.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { makePromptsAhead } from '../../src/speech/prompts-ahead.ts';
import { readPromptsFile } from '../../src/speech/prompts-file.ts';
import { openSpeech } from '../../src/speech/speech.ts';
import { startCalls } from '../calls/harness.ts';
import { turns } from '../calls/speaking.ts';
import { FakeClock } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';

const metrics = new Metrics();
const clock = new FakeClock();
const log = createLog('silent');
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'prompts-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function fileWith(content: string): string {
  const path = join(directory, 'prompts');
  writeFileSync(path, content);
  return path;
}

describe('a file of prompts', () => {
  it.each([
    ['Hello.\n\n  Goodbye.  \r\n', [{ text: 'Hello.' }, { text: 'Goodbye.' }]],
    ['', []],
    ['["Hello.", "Good\\nbye."]', [{ text: 'Hello.' }, { text: 'Good\nbye.' }]],
    [
      '[{"text":"Hello.","voice":"slt","speed":1.2},"Goodbye."]',
      [{ text: 'Hello.', voice: 'slt', speed: 1.2 }, { text: 'Goodbye.' }],
    ],
  ])('%j', async (content, prompts) => {
    expect(await readPromptsFile(fileWith(content))).toEqual(prompts);
  });

  it.each(['[', '[1]', '[{"voice":"slt"}]', '[{"text":"x","colour":"red"}]'])(
    'stops the start when it is %j',
    async (content) => {
      await expect(readPromptsFile(fileWith(content))).rejects.toThrow(/^PROMPTS_FILE: /);
    },
  );

  it('stops the start when it is not there', async () => {
    const reading = readPromptsFile(join(directory, 'nowhere'));
    await expect(reading).rejects.toThrow(ConfigError);
    await expect(reading).rejects.toThrow(/PROMPTS_FILE: got ".*nowhere", expected a file that can be read \(ENOENT\)/);
  });
});

describe('prompts made at the start', () => {
  it('are in the cache before anybody asks, made behind all calls, sentence by sentence', async () => {
    const engine = new FakeEngine(clock);
    const texts = ['Hello there. How are you?', { text: 'Goodbye.', voice: 'slt', speed: 2 }];
    const settings = readSettings({ PROMPTS_FILE: fileWith(JSON.stringify(texts)) });
    const speech = await openSpeech({ settings, engine, metrics, clock, log });
    await speech.makePromptsOfFile();
    expect(engine.spoken).toMatchObject([
      { text: 'Hello there.', urgency: 'batch', voice: 'rms' },
      { text: 'How are you?', urgency: 'batch' },
      { text: 'Goodbye.', urgency: 'batch', voice: 'slt', speed: 2 },
    ]);
    expect(speech.cachedPrompts().prompts).toBe(3);
  });

  it('do without those that cannot be made, and stop when the gateway does', async () => {
    const { context, engine, logLines } = startCalls();
    const { synthesizer } = context;
    const ended = new AbortController();
    const texts = [{ text: 'Hello.', voice: 'nobody' }, { text: 'Goodbye.' }, { text: 'Never.' }];
    engine.speakMs = 100;
    const options = { synthesizer, codec: MULAW_8K, signal: ended.signal, log: context.log, owner: 'PROMPTS_FILE' };
    const warming = makePromptsAhead(texts, options);
    await turns();
    expect(engine.spoken.map(({ text }) => text)).toEqual(['Goodbye.']);
    ended.abort();
    await warming;
    expect(engine.pending).toBe(0);
    expect(engine.spoken).toHaveLength(1);
    expect(logLines.filter((line) => line.includes('could not be made'))).toHaveLength(1);
  });
});
