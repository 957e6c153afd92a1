import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { openSpeech } from '../../src/speech/speech.ts';
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

describe('voices that are not there', () => {
  it('are each logged once, and only so many of them', async () => {
    const lines: string[] = [];
    const { calls } = await openSpeech({
      settings: readSettings({}),
      engine: new FakeEngine(clock),
      metrics,
      clock,
      log: createLog('warn', { write: (line) => void lines.push(line) }),
    });
    for (const voice of ['Joanna', 'Matthew', 'Joanna']) await calls.voices.resolve({ voice, voiceIsWish: true });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, voice: '"Joanna"', used: 'rms', msg: expect.stringContaining('VOICE_MAP') },
      { level: 40, voice: '"Matthew"' },
    ]);
    for (let n = 0; n < 100; n++) await calls.voices.resolve({ voice: `voice ${n}`, voiceIsWish: true });
    expect(lines.length).toBe(50);
  });
});

describe('the sentences of a text', () => {
  it('are those that lie in the cache, without those of PROMPTS_FILE', async () => {
    const speech = await openSpeech({
      settings: readSettings({ PROMPTS_FILE: fileWith('Hello, this is Harbor. How can I help?') }),
      engine: new FakeEngine(clock),
      metrics,
      clock,
      log,
    });
    expect(speech.sentencesOf('Hello, this is Harbor. Your balance is $12.50. How can I help?')).toEqual([
      'Your balance is $12.50.',
    ]);
  });
});

describe('the directory of prompts', () => {
  const open = (path: string) =>
    openSpeech({
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
