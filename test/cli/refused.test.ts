/** `trunkline db refused` without a server. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkRecords } from '../../src/cli/check-records.ts';
import { showRefused } from '../../src/cli/db/refused.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import type { RecordedEvent } from '../../src/records/record-writer.ts';
import { RefusedEvents } from '../../src/records/refused-events.ts';
import { captureTerminal } from '../helpers/terminal.ts';
import { said } from '../records/told-calls.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-refused-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const settings = () => readSettings({ DATA_DIR: folder });

function refusedEvent(number: number): RecordedEvent {
  const row = { id: 'CA1', carrier: 'twilio', state: 'live' as const, gateway: 'g', started_ms: 1, duration_ms: 0 };
  const counts = { finals: 0, spoken: 0, keys: 0, gaps: 0 };
  return {
    epoch: 'e',
    number,
    callId: 'CA1',
    type: 'caption',
    atMs: 1,
    content: JSON.stringify(said('CA1', number, 'hello')),
    tally: { id: 'CA1', seq: null, row: () => ({ ...row, ...counts, parameters: '{}', tracks: '[]' }) },
    text: null,
    target: null,
    update: null,
  };
}

async function run(flags: Parameters<typeof showRefused>[0]): Promise<{ code: number; text: string }> {
  const { terminal, out } = captureTerminal();
  const code = await showRefused(flags, settings(), terminal);
  return { code, text: out.text };
}

it('says what the database refused, stores it, and has nothing left', async () => {
  expect(await run({})).toEqual({ code: 0, text: 'The database refused nothing.\n' });
  const refused = new RefusedEvents(folder);
  const error = Object.assign(new Error('too long'), { code: '54000' });
  for (const number of [1, 2]) expect(await refused.keep(refusedEvent(number), error)).toBe(true);
  const shown = await run({});
  expect(shown.code).toBe(1);
  expect(shown.text).toMatch(/^2 events of 1 calls \(.*\):\n {2}CA1: 2 events, refused with 54000\n$/);
  const [, finding] = await checkRecords(settings());
  expect(finding).toMatchObject({ status: 'warn', detail: expect.stringContaining('trunkline db refused') });
  expect(JSON.parse((await run({ json: true })).text)).toMatchObject({ events: 2, calls: [{ callId: 'CA1' }] });
  expect(await run({ retry: true })).toEqual({ code: 0, text: '2 events were stored, 0 are left.\n' });
  expect((await run({})).code).toBe(0);
});

it('has room for so much and no more, and forgets a call that is deleted', async () => {
  const refused = new RefusedEvents(folder, 1500);
  const kept: boolean[] = [];
  for (let number = 1; number <= 4; number++) kept.push(await refused.keep(refusedEvent(number), new Error('no')));
  expect(kept).toEqual([true, true, false, false]);
  await refused.remove('CA1');
  expect((await refused.report()).events).toBe(0);
  expect(await refused.keep(refusedEvent(5), new Error('no'))).toBe(true);
  await refused.removeBefore(Date.now() + 60_000);
  expect((await refused.report()).events).toBe(0);
});
