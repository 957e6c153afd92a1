/** Whole gateways and a client of AudioHook over real sockets. */
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { encodeG711 } from '../../../src/audio/g711.ts';
import { MULAW_8K } from '../../../src/foundation/units.ts';
import { type Gateway, runGateway } from '../../../src/gateway/main.ts';
import { type FeedReader, readFeed } from '../../helpers/feed.ts';
import { readSettings } from '../../helpers/settings.ts';

const ID = 'e160e428-53e2-487c-977d-96989bf5c99d';
const NEXT_ID = 'f260e428-53e2-487c-977d-96989bf5c99e';
const NO_UUID = '00000000-0000-0000-0000-000000000000';
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
const [SPEECH_MS, SILENCE_MS, FRAME_MS] = [600, 1600, 200];

interface Message {
  readonly type: string;
  readonly parameters: {
    readonly entities?: readonly { readonly data: Transcript }[];
    readonly reason?: string;
    readonly info?: string;
  };
}
interface Transcript {
  readonly channelId: number;
  readonly isFinal: boolean;
  readonly offset: string;
  readonly alternatives: readonly { readonly interpretations: readonly { readonly transcript: string }[] }[];
}

let gateway: Gateway | null = null;
let client: Client | null = null;
let feed: FeedReader | null = null;
const others: Client[] = [];
afterEach(async () => {
  // A call whose connection breaks waits for another session.
  for (const each of [client, ...others.splice(0)]) each?.socket.close();
  feed?.close();
  await gateway?.close();
});

/** The client's side of one session. */
class Client {
  readonly socket: WebSocket;
  readonly got: Message[] = [];
  readonly #id: string;
  #sequence = 0;

  constructor(origin: string, id = ID) {
    this.#id = id;
    this.socket = new WebSocket(`${origin.replace('http', 'ws')}/genesys/media`);
    this.socket.on('message', (data: Buffer) => this.got.push(JSON.parse(data.toString()) as Message));
  }

  send(type: string, parameters: object = {}): void {
    const common = {
      version: '2',
      id: this.#id,
      type,
      seq: ++this.#sequence,
      serverseq: 0,
      position: 'PT0S',
      parameters,
    };
    this.socket.send(JSON.stringify(common));
  }

  open(changes: object = {}): void {
    this.send('open', {
      organizationId: 'o',
      conversationId: 'c',
      participant: { id: 'p', ani: '+15550100', aniName: 'Maria', dnis: '+15550199' },
      media: [{ type: 'audio', format: 'PCMU', channels: ['external', 'internal'], rate: 8000 }],
      ...changes,
    });
  }

  of(type: string): Message[] {
    return this.got.filter((message) => message.type === type);
  }

  get offsetsMs(): readonly number[] {
    const told = this.of('event').flatMap(({ parameters }) => parameters.entities ?? []);
    return told.map(({ data }) => Number(data.offset.slice(2, -1)) * 1000);
  }

  get finals(): readonly (readonly [number, string | undefined])[] {
    const told = this.of('event').flatMap(({ parameters }) => parameters.entities ?? []);
    return told
      .filter(({ data }) => data.isFinal)
      .map(({ data }) => [data.channelId, data.alternatives[0]?.interpretations[0]?.transcript] as const);
  }
}

async function connect(environment: Record<string, string> = {}): Promise<Client> {
  gateway = await runGateway(readSettings({ ...TONE, ...environment }));
  feed = await readFeed(gateway.url);
  client = new Client(gateway.url);
  await once(client.socket, 'open');
  return client;
}

/** The client's next session, which goes on with the ones before. */
async function reconnect(changes: object = {}): Promise<Client> {
  const next = new Client(gateway?.url ?? '', NEXT_ID);
  others.push(next);
  await once(next.socket, 'open');
  next.open({ continuedSessions: [{ id: ID, serverseq: 1, clientseq: 1 }], ...changes });
  await expect.poll(() => next.of('opened').length).toBe(1);
  return next;
}

const told = (type: string) => feed?.events.filter((event) => event.type === type) ?? [];

/** Both sides speak at once, each its own tone, then both are silent. */
function speak({ socket }: Client): void {
  const toneAt = (hz: number, at: number) => (at < SPEECH_MS * 8 ? 8000 * Math.sin((2 * Math.PI * hz * at) / 8000) : 0);
  const samples = Int16Array.from({ length: (SPEECH_MS + SILENCE_MS) * 8 * 2 }, (_, at) =>
    toneAt(at % 2 === 0 ? BRAVO_HZ : DELTA_HZ, Math.floor(at / 2)),
  );
  const bytes = encodeG711(samples, MULAW_8K);
  const frameBytes = FRAME_MS * 8 * 2;
  for (let at = 0; at < bytes.length; at += frameBytes) socket.send(bytes.subarray(at, at + frameBytes));
}

describe('a session of AudioHook', () => {
  it('is a call with both sides, whose captions come back; its end waits for the last one', async () => {
    const session = await connect();
    session.open();
    speak(session);
    session.send('close', { reason: 'end' });
    await expect.poll(() => session.of('closed').length, { timeout: 20_000 }).toBe(1);
    expect([...session.finals].sort()).toEqual([
      [0, 'bravo bravo bravo'],
      [1, 'delta delta delta'],
    ]);
    expect(session.got.at(0)?.type).toBe('opened');
    expect(session.got.at(-1)?.type).toBe('closed');
    await expect.poll(() => feed?.events.at(-1)).toMatchObject({ type: 'call.ended', reason: 'hangup', callId: ID });
    session.socket.close();
    await once(session.socket, 'close');
  }, 30_000);

  it('answers a probe and is no call', async () => {
    const session = await connect();
    session.open({ conversationId: NO_UUID });
    session.send('close', { reason: 'end' });
    await expect.poll(() => session.got.map(({ type }) => type)).toEqual(['opened', 'closed']);
    expect(feed?.events).toEqual([]);
  });

  it('ends a probe that stays: it has the place of a call', async () => {
    const session = await connect({ START_TIMEOUT_MS: '1000' });
    session.open({ conversationId: NO_UUID });
    await expect.poll(() => session.of('disconnect').length, { timeout: 20_000 }).toBe(1);
    await once(session.socket, 'close');
    expect(feed?.events).toEqual([]);
  }, 30_000);

  it('asks the client to end it when the call is hung up here', async () => {
    const session = await connect();
    session.open();
    await expect.poll(() => feed?.events.length).toBeGreaterThan(0);
    const answer = await fetch(`${gateway?.url}/v1/calls/${ID}/hangup`, { method: 'POST' });
    expect(answer.ok).toBe(true);
    await expect.poll(() => session.of('disconnect').map(({ parameters }) => parameters.reason)).toEqual(['completed']);
    session.send('close', { reason: 'disconnect' });
    await expect.poll(() => session.of('closed').length).toBe(1);
  });

  it('is asked to end, and told that it is closed, before a server ends', async () => {
    const session = await connect({ DRAIN_TIMEOUT_MS: '1' });
    session.open();
    await expect.poll(() => feed?.events.length).toBeGreaterThan(0);
    session.socket.on('message', (data: Buffer) => {
      const { type } = JSON.parse(data.toString()) as Message;
      if (type === 'disconnect') session.send('close', { reason: 'disconnect' });
      if (type === 'closed') session.socket.close();
    });
    const closed = once(session.socket, 'close');
    await gateway?.close();
    await closed;
    expect(session.got.slice(-2).map(({ type }) => type)).toEqual(['disconnect', 'closed']);
  });

  it('says why it cannot go on, closes, and the call ends', async () => {
    const session = await connect();
    session.open();
    const closed = once(session.socket, 'close');
    session.socket.send('{');
    await expect.poll(() => session.of('disconnect')).toMatchObject([{ parameters: { reason: 'error' } }]);
    await closed;
    await expect.poll(() => feed?.events.at(-1)).toMatchObject({ type: 'call.ended', reason: 'error' });
  });

  it('refuses to say anything', async () => {
    const session = await connect();
    session.open();
    await expect.poll(() => feed?.events.length).toBeGreaterThan(0);
    const answer = await fetch(`${gateway?.url}/v1/calls/${ID}/say`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Hello' }),
    });
    expect(answer.status).toBe(400);
  });
});

describe('a session of AudioHook that goes on in another one', () => {
  const SAID = [
    [0, 'bravo bravo bravo'],
    [1, 'delta delta delta'],
  ];

  it('is the same call when its connection broke', async () => {
    const first = await connect();
    first.open();
    speak(first);
    await expect.poll(() => first.finals.length, { timeout: 20_000 }).toBe(2);
    first.socket.terminate();
    const next = await reconnect();
    speak(next);
    next.send('close', { reason: 'end' });
    await expect.poll(() => next.of('closed').length, { timeout: 20_000 }).toBe(1);
    expect([...next.finals].sort()).toEqual(SAID);
    // Offsets are of the session's own sound.
    expect(Math.max(...next.offsetsMs)).toBeLessThan(SPEECH_MS);
    await expect.poll(() => told('call.ended')).toMatchObject([{ callId: ID, reason: 'hangup' }]);
    expect(told('call.started')).toHaveLength(1);
    const finals = told('caption').filter((event) => event.type === 'caption' && event.final);
    expect(finals).toHaveLength(4);
    const startsMs = finals.map((event) => (event.type === 'caption' ? event.startMs : 0));
    expect(Math.max(...startsMs)).toBeGreaterThanOrEqual(SPEECH_MS + SILENCE_MS);
  }, 40_000);

  it('is the same call when the client gives up its connection to reconnect', async () => {
    const first = await connect();
    first.open();
    speak(first);
    await expect.poll(() => first.finals.length, { timeout: 20_000 }).toBe(2);
    first.send('close', { reason: 'reconnect' });
    await expect.poll(() => first.of('closed').length).toBe(1);
    const next = await reconnect();
    next.send('close', { reason: 'end' });
    await expect.poll(() => next.of('closed').length, { timeout: 20_000 }).toBe(1);
    await expect.poll(() => told('call.ended')).toMatchObject([{ callId: ID, reason: 'hangup' }]);
    expect(told('call.started')).toHaveLength(1);
  }, 40_000);

  it('ends the session that the client leaves open behind it', async () => {
    const first = await connect();
    first.open();
    await expect.poll(() => told('call.started').length).toBe(1);
    const next = await reconnect();
    first.send('ping');
    await expect.poll(() => first.of('pong').length).toBe(1);
    first.send('close', { reason: 'reconnect' });
    await expect.poll(() => first.of('closed').length).toBe(1);
    const answer = await fetch(`${gateway?.url}/v1/calls/${ID}/hangup`, { method: 'POST' });
    expect(answer.ok).toBe(true);
    await expect.poll(() => next.of('disconnect').length).toBe(1);
    expect(told('call.started')).toHaveLength(1);
  });

  it.each([
    ['of another conversation', { conversationId: 'd' }],
    ['with other sound', { media: [{ type: 'audio', format: 'PCMU', channels: ['external'], rate: 8000 }] }],
  ])('is a call of its own %s', async (_what, changes) => {
    const first = await connect();
    first.open();
    await expect.poll(() => told('call.started').length).toBe(1);
    await reconnect(changes);
    await expect.poll(() => told('call.started')).toMatchObject([{ callId: ID }, { callId: NEXT_ID }]);
  });

  it('is a call that names the earlier one when that has ended', async () => {
    const first = await connect();
    first.open();
    first.send('close', { reason: 'end' });
    await expect.poll(() => told('call.ended').length, { timeout: 20_000 }).toBe(1);
    await reconnect();
    await expect.poll(() => told('call.started').length).toBe(2);
    const references = { conversationId: 'c', continuedSessions: ID };
    expect(told('call.started')[1]).toMatchObject({ callId: NEXT_ID, references });
  }, 40_000);
});
