/** A call is deleted in a whole gateway, while others read it, and looked for in all that shows or keeps it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readFeed } from '../helpers/feed.ts';
import { DictatedCall, LEAK } from './dictated-call.ts';

let folder: string;
let call: DictatedCall;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-deleted-'));
  call = new DictatedCall(folder, { REDACT: 'off', RECORD: 'both' });
});
afterEach(async () => {
  await call.close();
  rmSync(folder, { recursive: true });
});

/** Words of the call that are nowhere else: of both sides, of people, of the parameters. */
const WORDS = [LEAK, /Goodbye/, /Your card/, /paid with/, /Ada\b/];

/** Where a word of the call still is. */
const left = (texts: Readonly<Record<string, string>>): string[] =>
  Object.entries(texts).flatMap(([name, text]) =>
    WORDS.some((word) => word.test(text)) ? [`${name}: ${text.slice(0, 300)}`] : [],
  );

const remove = async (url: string) => (await fetch(url, { method: 'DELETE' })).status;

it('a deleted call is in no answer, no file and no replay, though others were reading it', async () => {
  const gateway = await call.start();
  const url = `${gateway.url}/v1/calls/${call.callId}`;
  const running = call.run();
  await expect.poll(() => fetch(url).then(({ status }) => status)).toBe(200);
  expect(await remove(url)).toBe(409);
  await running;
  await expect.poll(() => call.webhooks.taken.some(({ body }) => body.type === 'call.ended')).toBe(true);
  expect(left(call.files()).length).toBeGreaterThan(2);

  // All of the sound but its head.
  const heard = await fetch(`${url}/sound`, { headers: { range: 'bytes=44-' } });
  expect([heard.status, (await heard.arrayBuffer()).byteLength > 100_000]).toEqual([206, true]);

  const reader = await readFeed(gateway.url);
  const reading = [
    fetch(`${gateway.url}/v1/calls/export`).then((answer) => answer.text()),
    fetch(`${gateway.url}/v1/calls?q=card`).then((answer) => answer.text()),
    fetch(`${url}/sound`).then((answer) => answer.arrayBuffer()),
  ];
  const deletions = await Promise.all([remove(url), remove(url)]);
  expect(deletions).toContain(204);
  await reader.until(({ type }) => type === 'call.deleted');
  await Promise.all(reading);
  expect(await remove(url)).toBe(404);

  const { webhooks: _sent, log: _log, ...shown } = await call.shown();
  expect(left(shown)).toEqual([]);
  for (const action of ['sound.played', 'feed.read', 'calls.exported', 'call.deleted'])
    expect(shown['audit']).toContain(`"${action}"`);
  expect(left(call.files())).toEqual([]);
  const replay = await fetch(`${gateway.url}/v1/captions?call=${call.callId}&after=start`);
  const chunks = replay.body?.getReader();
  expect(left({ replay: new TextDecoder().decode((await chunks?.read())?.value) })).toEqual([]);
  await chunks?.cancel();
  reader.close();

  await call.stop();
  expect(left(call.files())).toEqual([]);
  await call.start();
  const { webhooks: _sentNow, log: _logNow, ...later } = await call.shown();
  expect(left(later)).toEqual([]);
});
