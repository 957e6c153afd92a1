/** A whole gateway in which a caller dictates a card number, and everything that shows or keeps it afterwards. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { eventually } from '../helpers/eventually.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { SECRET, WebhookReceiver } from '../records/webhooks/receiver.ts';

/** A card number that does not exist, and its digits as they are said. */
const CARD = '4539148803436467';
const IN_GROUPS = '4539 1488 0343 6467';

/** Any group of the number, however it is written; not as part of a random id, of a time or of a measured figure. */
export const LEAK = new RegExp(
  [
    CARD,
    '(?<![\\w.-])(?:4539|1488|0343|6467)(?![\\w-])',
    ...['four five three nine', 'one four eight eight', 'zero three four three', 'six four six seven'],
  ].join('|'),
  'i',
);

const RATE_HZ = 8000;
const WORD_MS = 200;
/** Of "card" and "number" in the pretend recogniser. */
const CARD_NUMBER = [10, 11];

const samplesOf = (ms: number): number => (ms * RATE_HZ) / 1000;

/** Words of the pretend recogniser `dictation` one after the other, with silence around them. */
function dictate(...utterances: readonly (readonly number[])[]): Int16Array {
  const silence = new Int16Array(samplesOf(700));
  const parts = utterances.flatMap((words) => [silence, ...words.map(wordOf)]);
  return Int16Array.from([...parts, new Int16Array(samplesOf(30_000))].flatMap((part) => [...part]));
}

function wordOf(word: number): Int16Array {
  const hz = 400 + 200 * word;
  return Int16Array.from({ length: samplesOf(WORD_MS) }, (_, i) =>
    Math.round(8000 * Math.sin((2 * Math.PI * hz * i) / RATE_HZ)),
  );
}

/** A gateway with records, an app and a program that takes webhooks. */
export class DictatedCall {
  readonly callId = 'CAdictated';
  gateway: GatewayProcess | null = null;
  feed: FeedReader | null = null;
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  #app: TestApp | null = null;
  readonly webhooks = new WebhookReceiver();

  constructor(folder: string, environment: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#environment = environment;
  }

  async start(): Promise<GatewayProcess> {
    this.#app ??= await startApp();
    if (this.webhooks.requests === 0) await this.webhooks.open().catch(() => undefined);
    this.gateway = await startGateway({
      ASR_MODEL: 'dictation',
      VAD_MODEL: 'tone',
      TTS_MODEL: 'tone',
      ENGINE_WORKERS: '1',
      NODE_OPTIONS: `--import=${packagePath('test', 'fakes', 'dictation.mjs')}`,
      LOG_LEVEL: 'debug',
      DATA_DIR: this.#folder,
      APP_URL: this.#app.url,
      CALL_WEBHOOK_URL: this.webhooks.url,
      CALL_WEBHOOK_EVENTS: 'call.ended,caption,spoken,dtmf,note',
      OUTBOUND_ALLOW: 'calls=127.0.0.0/8',
      WEBHOOK_SECRET: SECRET,
      ...this.#environment,
    });
    return this.gateway;
  }

  /** The number is said, pressed, written by the app, handed over, and told as a parameter; people note it. */
  async run(): Promise<void> {
    const { gateway, callId } = this;
    const app = this.#app;
    if (gateway === null || app === null) throw new Error('not started');
    this.feed = await readFeed(gateway.url);
    const digits = [...CARD].map(Number);
    const caller = new TwilioCaller({
      url: `${gateway.url.replace(/^http/, 'ws')}/twilio/media`,
      tracks: { inbound: dictate(CARD_NUMBER, digits.slice(0, 8), digits.slice(8)) },
      pace: 'realtime',
      clock: systemClock,
      callSid: callId,
      parameters: { reference: `card ${IN_GROUPS}`, agent: 'bob', callerName: 'Ada' },
      dtmf: [...CARD].map((digit, n) => ({ atMs: 6000 + 60 * n, digit })),
    });
    const over = caller.run();
    await eventually(() => expect(this.#of('dtmf')).toHaveLength(CARD.length));
    app.say({ type: 'text', token: `Thank you. Your card is ${IN_GROUPS}. Goodbye.`, last: true });
    await this.feed.until(({ type }) => type === 'spoken');
    await this.#send('POST', 'notes', { text: `has card ${IN_GROUPS}` });
    await this.#send('POST', 'marks', { label: `card ${CARD}` });
    await this.#send('PATCH', '', { outcome: `paid with ${CARD}`, tags: [`card ${CARD}`] });
    app.say({ type: 'end', handoffData: JSON.stringify({ card: CARD }) });
    await over;
    await this.feed.until(({ type }) => type === 'call.ended');
    await this.#send('POST', 'notes', { text: `again card ${IN_GROUPS}` });
  }

  #of(type: FeedEvent['type']): FeedEvent[] {
    return this.feed?.events.filter((event) => event.type === type) ?? [];
  }

  async #send(method: string, path: string, body: object): Promise<void> {
    const answer = await fetch(`${this.gateway?.url}/v1/calls/${this.callId}${path && `/${path}`}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect([method, path, answer.ok]).toEqual([method, path, true]);
  }

  /** The text of an answer. */
  async get(path: string): Promise<string> {
    return (await fetch(`${this.gateway?.url}${path}`)).text();
  }

  /** All that can be read of the call when it is over, by what it is. */
  async shown(): Promise<Record<string, string>> {
    const call = `/v1/calls/${this.callId}`;
    const paths = {
      view: call,
      list: '/v1/calls',
      transcript: `${call}/transcript`,
      subtitles: `${call}/transcript?format=srt`,
      events: `${call}/events?limit=500`,
      found: '/v1/calls?q=card',
      exported: '/v1/calls/export?format=jsonl',
      table: '/v1/calls/export?format=csv',
      prompts: '/v1/prompts',
      audit: '/v1/audit',
    };
    const texts: Record<string, string> = {};
    for (const [name, path] of Object.entries(paths)) texts[name] = await this.get(path);
    texts['webhooks'] = JSON.stringify(this.webhooks.taken);
    texts['log'] = JSON.stringify(this.gateway?.logLines);
    return texts;
  }

  /** What lies in files. */
  files(): Record<string, string> {
    const names = readdirSync(this.#folder, { recursive: true, encoding: 'utf8' });
    const paths = names.map((name) => join(this.#folder, name)).filter((path) => statSync(path).isFile());
    return Object.fromEntries(paths.map((path) => [path, readFileSync(path).toString('latin1')]));
  }

  /** The feed as its reader saw it. */
  live(): string {
    return JSON.stringify(this.feed?.events);
  }

  async stop(): Promise<void> {
    this.feed?.close();
    await this.gateway?.stop();
    this.gateway = null;
  }

  async close(): Promise<void> {
    await this.gateway?.stop('SIGKILL');
    await this.#app?.close();
    await this.webhooks.close();
  }
}
