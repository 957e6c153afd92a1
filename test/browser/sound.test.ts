/** The recorded sound of a call in Chromium: it plays, and seeking goes to the moment that is asked for. */
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SoundSink } from '../../src/calls/sound/sound-tap.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { callView } from '../helpers/call-view.ts';
import { listen, startServer } from '../http/test-server.ts';
import {
  makeFolder,
  type OpenedStore,
  openStore,
  removeFolder,
  STARTED_AT,
  tone,
} from '../records/sound/sound-files.ts';
import { launchBrowser } from './chromium.ts';

/** So long that Chromium does not load all of it at once: 9.6 MB of WAV for five minutes. */
const CALL_MS = 300_000;
/** The caller beeps here; what is heard beeps half a second later. */
const BEEP_AT_MS = 271_000;
const PLAY_SOUND = readFileSync(new URL('./play-sound.js', import.meta.url), 'utf8').replace(/;\s*$/, '');

let folder: string;
let kept: OpenedStore;
let app: FastifyInstance;
let browser: Browser;
let page: Page;
let live: SoundSink;

beforeAll(async () => {
  folder = await makeFolder();
  kept = await openStore(folder, 'a passphrase of a test');
  for (const callId of ['ended', 'live']) record(callId);
  const server = await startServer({}, undefined, undefined, kept.store);
  app = server.app;
  const startedAt = STARTED_AT.toISOString();
  server.calls.views.push({ ...callView('ended', { state: 'ended' }), startedAt });
  server.calls.views.push({ ...callView('live', { state: 'live' }), startedAt });
  browser = await launchBrowser(['--autoplay-policy=no-user-gesture-required']);
  page = await browser.newPage();
  await page.goto(`${await listen(app)}/health`);
});

afterAll(async () => {
  await browser?.close();
  await app?.close();
  await kept?.store.close();
  await removeFolder(folder);
});

function record(callId: string): void {
  const told = { onTrouble: () => undefined, onRecovered: () => undefined };
  const sink = kept.store.open({ callId, startedAt: STARTED_AT, codec: MULAW_8K, ...told });
  const lengthMs = callId === 'live' ? 6000 : CALL_MS;
  for (let atMs = 0; atMs < lengthMs; atMs += 20) {
    const isBeep = atMs >= BEEP_AT_MS && atMs < BEEP_AT_MS + 200;
    sink.add('caller', tone(440, atMs, 8000, isBeep || callId === 'live' ? 20_000 : 600), atMs);
    if (atMs - 500 >= BEEP_AT_MS && atMs - 500 < BEEP_AT_MS + 200)
      sink.add('heard', tone(880, atMs, 8000, 20_000), atMs);
  }
  if (callId === 'ended') sink.end(CALL_MS);
  else live = sink;
  kept.clock.advance(3000);
}

interface Played {
  readonly duration: number;
  /** When each channel became loud, in s of the sound. */
  readonly loudAt: readonly (number | null)[];
  readonly error: string | null;
}

/** Seeks to `fromS` in an audio element, plays two seconds and says when each channel became loud. */
function play(path: string, fromS: number): Promise<Played> {
  return page.evaluate(`(${PLAY_SOUND})(${JSON.stringify({ path, fromS })})`);
}

it('an encrypted call of five minutes plays and seeks to a moment near its end, both channels apart', async () => {
  await expect.poll(() => kept.rows.get('ended')).toBeGreaterThan(0);
  const { duration, loudAt, error } = await play('/v1/calls/ended/sound', BEEP_AT_MS / 1000 - 0.5);
  expect(error).toBeNull();
  expect(duration).toBeCloseTo(CALL_MS / 1000, 2);
  // The element's clock and the meters are read one after the other on a machine that does other work too.
  expect(Math.abs((loudAt[0] ?? 0) - BEEP_AT_MS / 1000)).toBeLessThan(0.25);
  expect((loudAt[1] ?? 0) - (loudAt[0] ?? 0)).toBeGreaterThan(0.35);
  expect((loudAt[1] ?? 0) - (loudAt[0] ?? 0)).toBeLessThan(0.65);
});

it('Chromium asks for parts, not for the whole file, when it seeks', async () => {
  const ranges: string[] = [];
  page.on('request', (request) => {
    const { range } = request.headers();
    if (range !== undefined) ranges.push(range);
  });
  await play('/v1/calls/ended/sound?untilMs=290000', 250);
  expect(ranges.some((range) => Number(/bytes=(\d+)-/.exec(range)?.[1]) > 1_000_000)).toBe(true);
});

it('a live call plays as far as it was written, and further when it is asked for again', async () => {
  await expect.poll(() => kept.store.bytes).toBeGreaterThan(0);
  const first = await play('/v1/calls/live/sound?untilMs=6000', 1);
  expect(first.error).toBeNull();
  expect(first.duration).toBeGreaterThanOrEqual(5.9);
  const { bytes } = kept.store;
  for (let atMs = 6000; atMs < 12_000; atMs += 20) live.add('caller', tone(440, atMs, 8000), atMs);
  kept.clock.advance(3000);
  // Chromium keeps what it has of an address, so a longer sound needs another one.
  await expect.poll(() => kept.store.bytes).toBeGreaterThan(bytes);
  await expect
    .poll(async () => (await play('/v1/calls/live/sound?untilMs=12000', 1)).duration)
    .toBeGreaterThanOrEqual(11.9);
});
