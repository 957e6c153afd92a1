import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { openFlows } from '../../src/flows/open-flows.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import type { PromptText } from '../../src/speech/prompts-ahead.ts';
import { FakeClock } from '../fakes/clock.ts';

describe('the flows of a gateway', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-flows-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('have what they say kept as long as their files are there', async () => {
    const kept = new Map<string, string[]>();
    const ahead = {
      keep: (owner: string, texts: readonly PromptText[]) => {
        const words = texts.map(({ text }) => text);
        kept.set(owner, words);
      },
      make: async () => ({ texts: 0, made: 0, sentences: 0, failed: 0 }),
    };
    for (const name of ['one', 'two'])
      writeFileSync(join(folder, `${name}.yaml`), `version: 1\nstart: a\nsteps:\n  a: { say: Here is ${name}. }\n`);
    const settings = readSettings({ FLOWS_DIR: folder });
    const flows = await openFlows({ settings, ahead, clock: new FakeClock(), log: createLog('silent') });
    expect([...kept]).toEqual([
      ['flow one', ['Here is one.']],
      ['flow two', ['Here is two.']],
    ]);
    rmSync(join(folder, 'one.yaml'));
    await flows.folder?.look();
    await flows.folder?.look();
    expect([...kept]).toEqual([
      ['flow one', []],
      ['flow two', ['Here is two.']],
    ]);
    flows.close();
  });

  it('are warned of a recording that is missing until it is uploaded', async () => {
    const prompt = '{ text: Hi., recording: hello }';
    writeFileSync(join(folder, 'shop.yaml'), `version: 1\nstart: a\nsteps:\n  a: { say: ${prompt} }\n`);
    const ahead = { keep: () => undefined, make: async () => ({ texts: 0, made: 0, sentences: 0, failed: 0 }) };
    const settings = readSettings({ FLOWS_DIR: folder });
    const flows = await openFlows({ settings, ahead, clock: new FakeClock(), log: createLog('silent') });
    const warnings = () => flows.folder?.list()[0]?.warnings.map(({ message }) => message);
    expect(warnings()).toEqual(['steps.a.say.recording: there is no recording hello in prompts/']);
    const tone = Int16Array.from({ length: 8000 }, (_, n) => 5000 * Math.sin(n / 3));
    await flows.prompts?.recordings.put({
      language: 'en',
      name: 'hello',
      bytes: new Uint8Array(writeWav([tone], 8000)),
    });
    expect(warnings()).toEqual([]);
    await flows.prompts?.recordings.delete('en', 'hello');
    expect(warnings()).toHaveLength(1);
    flows.close();
  });
});
