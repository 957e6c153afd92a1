/** A whole gateway with an app, and a caller of each carrier who talks with it over real sockets and cuts in. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { signPlivo } from '../../src/carriers/plivo/wire/plivo-signature.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { FRAME_MS, msToSamples } from '../../src/foundation/units.ts';
import { type Gateway, runGateway } from '../../src/gateway/main.ts';
import { CarrierCaller } from '../helpers/carrier-caller.ts';
import { CARRIER_LINES, type CarrierLine } from '../helpers/carrier-lines.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';

const TOKEN = 'a token of ours';
const PLIVO_TOKEN = 'plivo auth token';
const TONE = {
  ENGINE_WORKERS: '1',
  ASR_MODEL: 'tone',
  VAD_MODEL: 'tone',
  TTS_MODEL: 'tone',
  MODELS_DIR: 'none',
  DATA_DIR: 'none',
  LOG_LEVEL: 'silent',
  PORT: '0',
};
/** The pretend recogniser hears 600 Hz as "bravo", and 1000 Hz as "delta". */
const [BRAVO_HZ, DELTA_HZ] = [600, 1000];
const LEVEL = 8000;
/** The pretend voice takes 20 ms for a character. */
const ANSWER = 'We are open from ten to six on all days but one. '.repeat(4).trim();
const CHAR_MS = 20;
/** How far the account of what was heard may be off while the machine is busy. */
const TOLERANCE_MS = 400;

type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

/**
 * An app that answers the first thing that a caller says, and keeps what it is told, by the carrier's name for the
 * call.
 */
class Answerer {
  readonly #server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  readonly #frames = new Map<string, Frame[]>();

  constructor() {
    this.#server.on('connection', (socket) => {
      const frames: Frame[] = [];
      socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as Frame;
        if (frame.type === 'setup') this.#frames.set(String(frame['callSid']), frames);
        frames.push(frame);
        const prompts = frames.filter(({ type }) => type === 'prompt');
        if (frame.type === 'prompt' && prompts.length === 1)
          socket.send(JSON.stringify({ type: 'text', token: ANSWER, last: true }));
      });
    });
  }

  async listen(): Promise<string> {
    if (this.#server.address() === null) await once(this.#server, 'listening');
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  of(callId: string, type: string): Frame[] {
    return (this.#frames.get(callId) ?? []).filter((frame) => frame.type === type);
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A caller on a real socket, who speaks one tone or is silent and plays what comes, 20 ms at a time by the clock. */
class Talker {
  readonly caller: CarrierCaller;
  readonly faults: unknown[] = [];
  /** What the caller speaks: a tone, 0 = silence. */
  hz = 0;
  readonly #line: CarrierLine;
  readonly #socket: WebSocket;
  #waiters: { readonly holds: () => boolean; readonly resolve: () => void }[] = [];
  #livedToMs = 0;
  #samples = 0;

  constructor(line: CarrierLine, url: string, headers: Record<string, string>) {
    this.#line = line;
    this.#socket = new WebSocket(url, { headers });
    this.caller = new CarrierCaller({ line, send: (message) => this.#socket.send(message) });
    this.#socket.on('message', (data: Buffer, isBinary) => {
      try {
        this.#live();
        this.caller.receive(isBinary ? data : data.toString());
      } catch (error) {
        this.faults.push(error);
      }
    });
  }

  /** Calls, and lives until {@link hangUp}. */
  async begin(parameters: Record<string, string>): Promise<void> {
    await once(this.#socket, 'open');
    this.caller.start(parameters);
    this.#livedToMs = systemClock.nowMs();
    const ticking = systemClock.every(FRAME_MS, () => {
      this.#live();
      const done = this.#waiters.filter(({ holds }) => holds());
      this.#waiters = this.#waiters.filter((waiter) => !done.includes(waiter));
      for (const { resolve } of done) resolve();
    });
    this.#socket.on('close', () => ticking.cancel());
  }

  /** Resolves when `holds`, looked at 50 times a second. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => this.#waiters.push({ holds, resolve }));
  }

  /** Speaks `hz` for `durationMs` of sound. */
  async say(hz: number, durationMs: number): Promise<void> {
    const untilMs = this.#spokenMs + durationMs;
    this.hz = hz;
    await this.until(() => this.#spokenMs >= untilMs);
    this.hz = 0;
  }

  get #spokenMs(): number {
    return (1000 * this.#samples) / this.#line.codec.rateHz;
  }

  async hangUp(): Promise<void> {
    this.caller.stop();
    this.#socket.close(1000);
    await once(this.#socket, 'close');
  }

  vanish(): void {
    this.#socket.terminate();
  }

  /** A timer may be late; what has been played until now counts. */
  #live(): void {
    for (; this.#livedToMs < systemClock.nowMs(); this.#livedToMs += FRAME_MS) this.#liveFrame();
  }

  #liveFrame(): void {
    const { rateHz } = this.#line.codec;
    const turn = (2 * Math.PI * this.hz) / rateHz;
    this.caller.advance(FRAME_MS);
    this.caller.speak(
      Int16Array.from({ length: msToSamples(FRAME_MS, rateHz) }, () =>
        Math.round(LEVEL * Math.sin(turn * this.#samples++)),
      ),
    );
  }
}

const talkers: Talker[] = [];
let gateway: Gateway;
let feed: FeedReader;
const app = new Answerer();

beforeAll(async () => {
  const APP_URL = await app.listen();
  gateway = await runGateway(readSettings({ ...TONE, APP_URL, CARRIER_TOKEN: TOKEN, PLIVO_AUTH_TOKEN: PLIVO_TOKEN }));
  feed = await readFeed(gateway.url);
});

afterAll(async () => {
  for (const talker of talkers) talker.vanish();
  feed.close();
  await gateway.close();
  await app.close();
});

/** How each carrier shows who it is. */
const PROOFS: Readonly<Record<string, (url: string) => { query?: string; headers?: Record<string, string> }>> = {
  telnyx: () => ({ headers: { 'x-telnyx-streaming-auth-token': TOKEN } }),
  signalwire: () => ({ headers: { authorization: `Bearer ${TOKEN}` } }),
  plivo: (url) => ({
    headers: { 'x-plivo-signature-v3': signPlivo(PLIVO_TOKEN, url, 'nonce'), 'x-plivo-signature-v3-nonce': 'nonce' },
  }),
  vonage: () => ({ query: `?token=${encodeURIComponent(TOKEN)}` }),
  exotel: () => ({ headers: { authorization: `Basic ${Buffer.from(`user:${TOKEN}`).toString('base64')}` } }),
};

function dial(line: CarrierLine): Talker {
  const url = `${gateway.url}/${line.carrier}/media`;
  const proof = PROOFS[line.carrier]?.(url);
  if (proof === undefined) throw new Error(`add ${line.carrier} to PROOFS in test/carriers/carrier-gateway.test.ts`);
  const { query = '', headers = {} } = proof;
  const talker = new Talker(line, url.replace('http', 'ws') + query, headers);
  talkers.push(talker);
  return talker;
}

describe.concurrent('a caller who talks with an app and cuts in', () => {
  it.each(CARRIER_LINES.map((line) => [line.carrier, line] as const))('over %s', async (carrier, line) => {
    const callId = line.callId ?? '';
    const talker = dial(line);
    const { caller } = talker;
    await talker.begin({ orderId: '42' });

    await talker.say(BRAVO_HZ, 600);
    await talker.until(() => caller.heardMs > 700);
    talker.hz = DELTA_HZ;
    await talker.until(() => caller.clears > 0);
    const { heardMs } = caller;
    const spoken = await feed.until((event) => event.type === 'spoken' && event.callId === callId);
    talker.hz = 0;
    caller.press('7');
    await feed.until((event) => event.type === 'dtmf' && event.callId === callId);
    await talker.hangUp();
    await feed.until((event) => event.type === 'call.ended' && event.callId === callId);

    expect(talker.faults).toEqual([]);
    expect(caller.heardMs).toBe(heardMs);
    expect(spoken).toMatchObject({ interrupted: true, text: ANSWER });
    const { heardText } = spoken as { heardText: string };
    expect(ANSWER.startsWith(heardText)).toBe(true);
    expect(Math.abs(heardText.length * CHAR_MS - heardMs)).toBeLessThan(TOLERANCE_MS);
    expect(app.of(callId, 'prompt')[0]).toMatchObject({ voicePrompt: expect.stringMatching(/^bravo /) });
    expect(app.of(callId, 'setup')).toMatchObject([{ callType: 'PSTN', customParameters: { orderId: '42' } }]);
    expect(app.of(callId, 'interrupt')).toMatchObject([{ utteranceUntilInterrupt: heardText }]);
    expect(app.of(callId, 'dtmf')).toMatchObject([{ digit: '7' }]);
    expect(await (await fetch(`${gateway.url}/v1/calls/${encodeURIComponent(callId)}`)).json()).toMatchObject({
      carrier,
      state: 'ended',
    });
  });
});
