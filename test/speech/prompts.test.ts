import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { ConfigError, readSettings } from '../../src/foundation/settings/config.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { openPrompts, readPrompts, warmPrompts } from '../../src/speech/prompts.ts';
import { startCalls } from '../calls/harness.ts';
import { turns } from '../calls/speaking.ts';
import { FakeClock } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';
import { outwait } from '../helpers/outwait.ts';

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
    expect(await readPrompts(fileWith(content))).toEqual(prompts);
  });

  it.each(['[', '[1]', '[{"voice":"slt"}]', '[{"text":"x","colour":"red"}]'])(
    'stops the start when it is %j',
    async (content) => {
      await expect(readPrompts(fileWith(content))).rejects.toThrow(/^PROMPTS_FILE: /);
    },
  );

  it('stops the start when it is not there', async () => {
    const reading = readPrompts(join(directory, 'nowhere'));
    await expect(reading).rejects.toThrow(ConfigError);
    await expect(reading).rejects.toThrow(/PROMPTS_FILE: got ".*nowhere", expected a file that can be read \(ENOENT\)/);
  });
});

describe('voices that are not there', () => {
  it('are warned of once each, whoever asks for them, and not for ever', async () => {
    const lines: string[] = [];
    const { prompter } = await openPrompts({
      ...{ settings: readSettings({}), engine: new FakeEngine(clock), metrics, clock },
      log: createLog('warn', { write: (line) => void lines.push(line) }),
    });
    for (const voice of ['Joanna', 'Matthew', 'Joanna']) await prompter.settle({ voice, voiceIsWish: true });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, voice: '"Joanna"', used: 'rms', msg: expect.stringContaining('VOICE_MAP') },
      { level: 40, voice: '"Matthew"' },
    ]);
    for (let n = 0; n < 100; n++) await prompter.settle({ voice: `voice ${n}`, voiceIsWish: true });
    expect(lines.length).toBe(50);
  });
});

describe('prompts made at the start', () => {
  it('are in the cache before anybody asks, made behind all calls, sentence by sentence', async () => {
    const engine = new FakeEngine(clock);
    const { cache, prompter } = await openPrompts({ settings: readSettings({}), engine, metrics, clock, log });
    const texts = [{ text: 'Hello there. How are you?' }, { text: 'Goodbye.', voice: 'slt', speed: 2 }];
    await warmPrompts(texts, { prompter, codec: MULAW_8K, signal: new AbortController().signal, log });
    expect(engine.spoken).toMatchObject([
      { text: 'Hello there.', urgency: 'batch', voice: 'rms' },
      { text: 'How are you?', urgency: 'batch' },
      { text: 'Goodbye.', urgency: 'batch', voice: 'slt', speed: 2 },
    ]);
    expect(cache.stats.prompts).toBe(3);
  });

  it('do without those that cannot be made, and stop when the gateway does', async () => {
    const { context, engine, logLines } = startCalls();
    const { prompter } = context;
    const ended = new AbortController();
    const texts = [{ text: 'Hello.', voice: 'nobody' }, { text: 'Goodbye.' }, { text: 'Never.' }];
    engine.speakMs = 100;
    const warming = warmPrompts(texts, { prompter, codec: MULAW_8K, signal: ended.signal, log: context.log });
    await turns();
    expect(engine.spoken.map(({ text }) => text)).toEqual(['Goodbye.']);
    ended.abort();
    await warming;
    expect(engine.pending).toBe(0);
    expect(engine.spoken).toHaveLength(1);
    expect(logLines.filter((line) => line.includes('could not be made'))).toHaveLength(1);
  });
});

describe('the directory of prompts', () => {
  const open = (path: string) =>
    openPrompts({
      settings: readSettings({ PROMPT_CACHE_DIR: path }),
      engine: new FakeEngine(clock),
      metrics,
      clock,
      log,
    });

  it('stops the start when it cannot be used', async () => {
    await expect(open(fileWith('a file'))).rejects.toThrow(/^PROMPT_CACHE_DIR: /);
  });

  it('stops the start when another has it, and is free when that has closed', async () => {
    const path = join(directory, 'cache');
    const first = await open(path);
    const second = open(path);
    const refused = expect(second).rejects.toThrow(/^PROMPT_CACHE_DIR: expected .*in use by process \d+ on /);
    await outwait(clock, refused);
    await first.close();
    await (await open(path)).close();
  });
});
