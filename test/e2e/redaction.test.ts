/** A whole gateway with REDACT: a card number is said, pressed, spoken, noted and handed over, and looked for. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { DictatedCall, LEAK } from './dictated-call.ts';

const begun: { call: DictatedCall; folder: string }[] = [];
afterAll(async () => {
  for (const { call, folder } of begun) {
    await call.close();
    rmSync(folder, { recursive: true });
  }
});

/** The names of the texts in which a part of the number is. */
const leaksIn = (texts: Readonly<Record<string, string>>): string[] =>
  Object.entries(texts).flatMap(([name, text]) => {
    const found = LEAK.exec(text);
    return found === null ? [] : [`${name}: ${text.slice(Math.max(found.index - 60, 0), found.index + 60)}`];
  });

async function dictated(REDACT: string): Promise<DictatedCall> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-dictated-'));
  const call = new DictatedCall(folder, { REDACT });
  begun.push({ call, folder });
  await call.start();
  await call.run();
  await eventually(() => expect(call.webhooks.taken.map(({ body }) => body.type)).toContain('call.ended'));
  return call;
}

describe.concurrent('a card number in a call', () => {
  it('is seen by readers of the live call alone with REDACT=store', async () => {
    const call = await dictated('store');
    const { gateway } = call;
    expect(call.live()).toMatch(LEAK);
    expect(gateway?.logLines.length).toBeGreaterThan(0);
    expect(leaksIn(await call.shown())).toEqual([]);
    expect(leaksIn(call.files())).toEqual([]);
    const { transcript = '', view = '' } = await call.shown();
    expect(transcript).toContain('[card number]');
    expect(transcript).toContain('Goodbye');
    expect(JSON.parse(view)).toMatchObject({ counts: { keys: 16, spoken: 1 }, outcome: 'paid with [card number]' });
    await call.stop();
    expect(leaksIn(call.files())).toEqual([]);
    await call.start();
    expect(leaksIn(await call.shown())).toEqual([]);
  }, 120_000);

  it('is nowhere with REDACT=feed', async () => {
    const call = await dictated('feed');
    expect(call.live()).not.toMatch(LEAK);
    expect(leaksIn(await call.shown())).toEqual([]);
    expect(leaksIn(call.files())).toEqual([]);
  }, 120_000);

  it('is everywhere but in the log without redaction', async () => {
    const call = await dictated('off');
    const { log = '', ...shown } = await call.shown();
    expect(log).not.toMatch(LEAK);
    const names = leaksIn(shown).map((leak) => leak.slice(0, leak.indexOf(':')));
    expect(names).toEqual(expect.arrayContaining(['view', 'transcript', 'events', 'exported', 'webhooks']));
  }, 120_000);
});
