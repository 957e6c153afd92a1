/** Gateways of one cluster in this process, each on a port of its own, over a PostgreSQL of the test's. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { type Gateway, runGateway } from '../../src/gateway/main.ts';
import { freePort } from './ports.ts';
import { readSettings } from './settings.ts';

/** Of every gateway of a test. */
export const CLUSTER_KEY = 'the key of the cluster of this test';
/** One of API_KEYS. */
export const API_KEY = 'a key of the operator of this test';

const QUIET = {
  HOST: '127.0.0.1',
  LOG_LEVEL: 'silent',
  ENGINE_PRELOAD: 'false',
  ENGINE_WORKERS: '1',
  ASR_MODEL: 'tone',
  VAD_MODEL: 'tone',
  TTS_MODEL: 'tone',
  MODELS_DIR: 'none',
  API_KEYS: API_KEY,
  CLUSTER_KEY,
};

/** How often a benchmark or a test looks whether a call is live, and how many times. */
const [LOOK_MS, LOOKS_MAX] = [5, 3000];

/** One of them. */
export interface ClusterGateway {
  readonly url: string;
  readonly gateway: Gateway;
  /** A request with the operator's key, unless `headers` say otherwise. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** Starts `count` gateways on the database at `databaseUrl` that know each other. */
export async function startCluster(
  databaseUrl: string,
  count = 2,
  environment: Readonly<Record<string, string>> = {},
): Promise<ClusterGateway[]> {
  const gateways: ClusterGateway[] = [];
  for (let number = 0; number < count; number++) gateways.push(await startOne(databaseUrl, environment));
  return gateways;
}

async function startOne(databaseUrl: string, environment: Readonly<Record<string, string>>): Promise<ClusterGateway> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-cluster-'));
  const url = `http://127.0.0.1:${port}`;
  const settings = readSettings({
    ...QUIET,
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    GATEWAY_URL: url,
    DATA_DIR: folder,
    ...environment,
  });
  const gateway = await runGateway(settings, { log: createLog('silent') });
  return {
    url,
    gateway,
    ask: (path, init = {}) =>
      fetch(url + path, {
        ...init,
        headers: {
          authorization: `Bearer ${API_KEY}`,
          ...(typeof init.body === 'string' && { 'content-type': 'application/json' }),
          ...init.headers,
        },
      }),
    close: async () => {
      await gateway.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A call from a page, over a WebSocket that its test holds. */
export interface PageCall {
  readonly callId: string;
  readonly socket: WebSocket;
  /** Sends one frame of silence. */
  frame(): void;
  /** Resolves when the socket closes, with its close code. */
  readonly closed: Promise<number>;
}

/** Asks `through` for a token, and begins the call with it at `at`. */
export async function callFromPage(
  through: ClusterGateway,
  at: ClusterGateway,
  frames = 5,
  callSid?: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<PageCall> {
  const prepared = (await (await through.ask('/v1/phone', { method: 'POST' })).json()) as {
    callId: string;
    token: string;
  };
  return beginCall(at, { callId: callSid ?? prepared.callId, token: prepared.token, parameters }, frames);
}

/** Begins a call as a page does, with a token that it has; all its messages leave at once. */
export async function beginCall(
  at: ClusterGateway,
  {
    callId,
    token,
    parameters = {},
  }: { readonly callId: string; readonly token: string; readonly parameters?: Readonly<Record<string, string>> },
  frames = 5,
): Promise<PageCall> {
  const socket = new WebSocket(`${at.url.replace('http', 'ws')}/twilio/media`, {
    headers: { origin: at.url, authorization: `Bearer ${API_KEY}` },
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('close', reject);
  });
  const streamSid = `MZ${callId}`;
  let sequence = 1;
  const send = (message: object): void => {
    socket.send(JSON.stringify({ sequenceNumber: String(sequence++), streamSid, ...message }));
  };
  let chunk = 0;
  const frame = (): void => {
    chunk += 1;
    const media = { track: 'inbound', chunk: String(chunk), timestamp: String((chunk - 1) * 20) };
    send({ event: 'media', media: { ...media, payload: Buffer.alloc(160, 0xff).toString('base64') } });
  };
  send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  send({
    event: 'start',
    start: {
      streamSid,
      accountSid: 'AC1',
      callSid: callId,
      tracks: ['inbound'],
      customParameters: { ...parameters, token },
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
    },
  });
  for (let sent = 0; sent < frames; sent++) frame();
  return { callId, socket, frame, closed };
}

/** Resolves when `at` knows the call as live. */
export async function live(at: ClusterGateway, callId: string): Promise<void> {
  const isLive = (): boolean => at.gateway.calls().some(({ id, state }) => id === callId && state === 'live');
  for (let looks = 0; !isLive(); looks++) {
    if (looks > LOOKS_MAX) throw new Error(`the call ${callId} is not live`);
    await sleep(systemClock, LOOK_MS);
  }
}
