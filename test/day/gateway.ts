/** A gateway in this process with a day in its records and calls that go on. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { WebSocketTrunk } from '../../src/carriers/shared/websocket/trunk.ts';
import { TwilioDialect } from '../../src/carriers/shared/wire/twilio-media.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import type { Settings } from '../../src/foundation/settings/settings.ts';
import { PARTS } from '../../src/gateway/parts.ts';
import { buildParts, type Parts } from '../../src/gateway/wiring.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { DAY_MS, planDay } from './day-plan.ts';
import { type Dialogues, readDialogues } from './dialogues.ts';
import { LiveCalls, type Trouble } from './live-calls.ts';
import { type PlayedDay, playDay } from './play-day.ts';
import { placeSpokenCall, speakCall } from './spoken-calls.ts';

const AUTH_TOKEN = 'the-auth-token-of-this-day';
/** Where in the day its gateway is killed: in the busy hour. */
const DEATH_SHARE = 0.23;
const TROUBLES: readonly Trouble[] = ['slow', 'app lost', 'stream lost', 'held', 'queued', 'hole'];
const BEGIN_EVERY_MS = 900;

/** What the day is to have. */
export interface DayOptions {
  readonly folder: string;
  readonly port: number;
  readonly calls: number;
  readonly live: number;
  /** Calls with sound, half of which are over. */
  readonly spoken: number;
  readonly seed: number;
  /** Tells how far it is. */
  tell(line: string): void;
}

/** The day, and what it can be looked at with. */
export interface Day {
  readonly url: string;
  readonly played: PlayedDay;
  readonly parts: Parts;
  /** Calls of the audio path that are over, the last one last. */
  readonly spokenIds: readonly string[];
  close(): Promise<void>;
}

/** Plays a day and goes on serving it. @throws what the folder or the port is refused with */
export async function openDay(options: DayOptions): Promise<Day> {
  const { folder, port, calls, live, spoken, seed, tell } = options;
  const settings = settingsOf(folder, port, live + spoken);
  const random = seededRandom(seed);
  const dialogues = readDialogues();
  const fromMs = systemClock.wall().getTime() - DAY_MS;
  const planned = planDay({ calls, dialogues, random, fromMs });
  const played = await playDay(planned, settings, { deathMs: fromMs + DAY_MS * DEATH_SHARE });
  const rate = Math.round(played.events / (played.tookMs / 1000));
  tell(
    `${played.calls} calls with ${played.events} events in ${Math.round(played.tookMs / 1000)} s (${rate} a second)`,
  );
  const state = { isDraining: false };
  const parts = await buildParts(settings, {
    log: createLog('warn'),
    onRefused: tell,
    engineWatcher: undefined,
    isDraining: () => state.isDraining,
    list: PARTS,
  });
  await parts.records?.recover(parts.feed);
  const url = await parts.server.listen({ host: settings.HOST, port: settings.PORT });
  await parts.engineClient.start();
  const app = await openSilentApp();
  const lines = openLines(parts, settings, { dialogues, random, appUrl: app.url });
  const close = async (): Promise<void> => {
    state.isDraining = true;
    lines.close();
    await parts.registry.drain(0);
    await endParts(parts);
    app.close();
  };
  try {
    const troubles = Array.from({ length: live - Math.ceil(spoken / 2) }, (_, n) => TROUBLES[n] ?? null);
    const begun = beginCalls(lines, troubles);
    const spokenIds = await placeSpoken(url, { lines, dialogues, random, count: spoken, tell });
    await begun;
    await fetch(`${url}/v1/prompts`, { method: 'DELETE' });
    await refuseSome(url);
    return { url, played, parts, spokenIds, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function settingsOf(folder: string, port: number, calls: number): Settings {
  const models = process.env['TRUNKLINE_TEST_MODELS'] ?? '';
  return readSettings({
    DATA_DIR: folder,
    PORT: String(port),
    REDACT: 'store',
    HINTS_FILE: packagePath('examples', 'hints.yaml'),
    FLOWS_DIR: packagePath('dialplans', 'ivr'),
    TWILIO_AUTH_TOKEN: AUTH_TOKEN,
    CARRIER_TOKEN: AUTH_TOKEN,
    ASTERISK_USER: 'pbx',
    ASTERISK_PASSWORD: AUTH_TOKEN,
    MAX_CALLS: String(Math.max(40, calls * 2)),
    MEDIA_TIMEOUT_MS: '3600000',
    LOG_LEVEL: 'warn',
    MODELS_DIR: models !== '' && existsSync(models) ? models : 'none',
  });
}

function openLines(
  parts: Parts,
  settings: Settings,
  { dialogues, random, appUrl }: { dialogues: Dialogues; random: () => number; appUrl: string },
): LiveCalls {
  const trunk = new WebSocketTrunk({ registry: parts.registry, feed: parts.feed, settings, clock: systemClock });
  return new LiveCalls({
    parts,
    accept: (socket, carrier) => trunk.accept(socket, new TwilioDialect(carrier), { trusted: true }),
    dialogues,
    random,
    appUrl,
  });
}

/** An app that takes every call and says nothing. */
async function openSilentApp(): Promise<{ url: string; close(): void }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `ws://127.0.0.1:${port}/menu`, close: () => server.close() };
}

/** One after the other, so that they do not all last equally long. */
async function beginCalls(lines: LiveCalls, troubles: readonly (Trouble | null)[]): Promise<void> {
  for (const trouble of troubles) {
    lines.begin(trouble);
    await new Promise<void>((resolve) =>
      systemClock.after(Math.min(BEGIN_EVERY_MS, 20_000 / troubles.length), resolve),
    );
  }
}

/** Half of them at once, until they are over; then the others, which go on. */
async function placeSpoken(
  url: string,
  {
    lines,
    dialogues,
    random,
    count,
    tell,
  }: Pick<DayOptions, 'tell'> & { lines: LiveCalls; dialogues: Dialogues; random: () => number; count: number },
): Promise<string[]> {
  const voices = await listVoices(url);
  const over: Promise<string>[] = [];
  for (let n = 0; n < count; n++) {
    const call = await speakCall(url, { dialogues, random, voices, number: n });
    const goesOn = n >= count / 2;
    if (goesOn) await Promise.all(over);
    tell(`call ${n + 1} of ${count} by its sound begins`);
    const placed = placeSpokenCall(url, AUTH_TOKEN, call);
    if (goesOn)
      placed.then(
        () => lines.begin(null),
        (error: unknown) => tell(String(error)),
      );
    else over.push(placed.then((id) => describe(url, id, call).then(() => id)));
  }
  return Promise.all(over);
}

async function listVoices(url: string): Promise<string[]> {
  const { data } = (await (await fetch(`${url}/v1/voices`)).json()) as {
    data: { name: string; language: string; live: boolean; engine: string }[];
  };
  const english = data.filter(({ language, live, engine }) => live && engine !== 'espeak' && language.startsWith('en'));
  return english.map(({ name }) => name);
}

async function describe(
  url: string,
  id: string,
  call: { outcome: string; tags: readonly string[]; note: string | null },
) {
  await send(url, `/v1/calls/${id}`, 'PATCH', { outcome: call.outcome, tags: call.tags });
  if (call.note !== null) await send(url, `/v1/calls/${id}/notes`, 'POST', { text: call.note.replace(/\{\w+\}/g, '') });
}

async function send(url: string, path: string, method: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${await response.text()}`);
}

/** What strangers and mistakes bring: it is counted by its reason. */
async function refuseSome(url: string): Promise<void> {
  await fetch(`${url}/twilio/voice`, { method: 'POST', body: new URLSearchParams({ CallSid: 'CA1' }) });
  await fetch(`${url}/twilio/voice`, { method: 'POST', body: new URLSearchParams({ CallSid: 'CA2' }) });
}

async function endParts({ parts, server, upkeep, engineClient, speech, closeRecords }: Parts) {
  for (const part of parts.values()) await part.close?.();
  await server.close();
  await upkeep?.close();
  for (const part of parts.values()) await part.release?.();
  await engineClient.close();
  await speech.close();
  await closeRecords();
}
