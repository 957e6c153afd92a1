import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppConnection, type ConnectionLimits, type ConnectionOutcome } from '../../../src/calls/app/connection.ts';
import type { FrameToApp } from '../../../src/calls/app/frames.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';

const SETUP = { type: 'error', description: 'stands for setup' } as const;
const prompt = (n: number): FrameToApp => ({ type: 'prompt', voicePrompt: `prompt ${n}`, lang: 'en-US', last: true });
const LIMITS = { connectTimeoutMs: 5000, reconnectMs: 10_000, messageMaxBytes: 65_536, sendBufferMaxBytes: 262_144 };

let app: TestApp;
let clock: FakeClock;
let connection: AppConnection | undefined;
/** What the connection told, as words, and who waits for more. */
let told: string[];
let listeners: (() => void)[];
/** Why, of each outcome. */
let reasons: (string | null)[];

beforeEach(async () => {
  app = await startApp();
  clock = new FakeClock();
  told = [];
  listeners = [];
  reasons = [];
});
afterEach(async () => {
  connection?.close(1000, 'end of test');
  await app.close();
});

function tell(what: string): void {
  told.push(what);
  for (const wake of listeners.splice(0)) wake();
}

/** Resolves when the connection has told `what` for the `times`th time. */
async function until(what: string, times = 1): Promise<void> {
  while (told.filter((each) => each === what).length < times)
    await new Promise<void>((resolve) => listeners.push(resolve));
}

function connect(
  limits: Partial<ConnectionLimits> = {},
  headers: Record<string, string> = {},
  url = app.url,
): AppConnection {
  connection = new AppConnection({
    url,
    headers,
    clock,
    limits: { ...LIMITS, ...limits },
    handlers: {
      setup: () => SETUP,
      onMessage: (message) => tell(message ?? 'binary'),
      onFence: () => tell('fence'),
      onLost: () => undefined,
      onFinished: () => undefined,
      onGone: () => undefined,
      onOutcome: (outcome: ConnectionOutcome, reason: string | null) => {
        reasons.push(reason);
        tell(outcome);
      },
    },
  });
  return connection;
}

async function connected(limits: Partial<ConnectionLimits> = {}): Promise<AppConnection> {
  const made = connect(limits);
  await app.until(({ frames }) => frames.length === 1);
  return made;
}

const prompts = () => app.of('prompt').map((frame) => frame['voicePrompt']);

describe('a connection to an app', () => {
  it('begins with setup, then what was said before it was there', async () => {
    const made = connect({}, { 'x-trunkline-signature': 'signed' });
    made.send(prompt(1));
    await app.until(({ frames }) => frames.length === 2);
    expect(app.frames).toEqual([SETUP, prompt(1)]);
    expect(app.requests[0]?.url).toBe('/calls?x=1');
    expect(app.requests[0]?.headers['x-trunkline-signature']).toBe('signed');
    expect(app.requests[0]?.headers['sec-websocket-extensions']).toBeUndefined();
  });

  it('hands over messages, and says when one is binary', async () => {
    await connected();
    app.say('{"type":"end"}');
    app.socket.send(Buffer.from('x'));
    await until('binary');
    expect(told).toEqual(['connected', '{"type":"end"}', 'binary']);
  });

  it('keeps no frame that only matters now', async () => {
    const made = connect();
    made.sendNow(prompt(1));
    made.send(prompt(2));
    await app.until(() => prompts().length > 0);
    expect(prompts()).toEqual(['prompt 2']);
  });

  it('keeps the latest 32 frames of an app that is away', async () => {
    const made = connect();
    for (let n = 1; n <= 40; n++) made.send(prompt(n));
    await app.until(() => prompts().length === 32);
    expect([prompts()[0], prompts().at(-1)]).toEqual(['prompt 9', 'prompt 40']);
  });

  it('tells when the app has read all that was sent', async () => {
    const made = await connected();
    made.send(prompt(1));
    made.fence();
    await until('fence');
    expect(prompts()).toEqual(['prompt 1']);
  });

  it('tells when an app that was away has read all that was kept before', async () => {
    const made = connect();
    made.send(prompt(1));
    made.fence();
    await until('fence');
    expect(prompts()).toEqual(['prompt 1']);
  });

  it('is closed with a word, and tells nothing more', async () => {
    const made = await connected();
    made.close(1000, 'Closing websocket session');
    made.send(prompt(1));
    await app.until(({ closeCodes }) => closeCodes.length === 1);
    expect([app.closeCodes, prompts(), told]).toEqual([[1000], [], ['connected']]);
  });

  it('is cut when the app does not answer our close', async () => {
    const made = await connected();
    app.socket.pause();
    made.close(1000, 'Closing websocket session');
    clock.advance(2000);
    app.socket.resume();
    await app.until(({ closeCodes }) => closeCodes.length === 1);
    await app.close();
    expect(clock.pending).toBe(0);
  });

  it('leaves no timer when it is closed before it was made', async () => {
    connect().close(1000, 'too late');
    await app.close();
    expect([clock.pending, told]).toEqual([0, []]);
  });
});

describe('a connection that is lost', () => {
  it('is made again, with setup and what was said meanwhile', async () => {
    const made = await connected();
    app.socket.terminate();
    await until('lost');
    made.send(prompt(1));
    clock.advance(250);
    await app.until(({ frames }) => frames.length === 3);
    expect(app.frames).toEqual([SETUP, SETUP, prompt(1)]);
  });

  it.each([1001, 1011, 1012, 4000])('is one that the app closed with %i', async (code) => {
    await connected();
    app.socket.close(code);
    await until('lost');
  });

  it.each([1000, undefined])('is not one that the app closed with %s: it has finished', async (code) => {
    await connected();
    app.socket.close(code);
    await until('finished');
    expect([told, clock.pending]).toEqual([['connected', 'finished'], 0]);
  });

  it('is tried again at growing distances until the time for that is over', async () => {
    await app.close();
    connect({ reconnectMs: 2000 });
    for (const [attempt, delayMs] of [250, 500, 1000].entries()) {
      await until('refused', attempt + 1);
      clock.advance(delayMs - 1);
      expect(told).toHaveLength(attempt + 1);
      clock.advance(1);
    }
    await until('gone');
    expect([told, clock.pending]).toEqual([['refused', 'refused', 'refused', 'refused', 'gone'], 0]);
  });

  it('is given up at once when it may not be tried again', async () => {
    await app.close();
    connect({ reconnectMs: 0 });
    await until('gone');
    expect(told).toEqual(['refused', 'gone']);
  });

  it('is given up when the app takes connections only to drop them', async () => {
    connect({ reconnectMs: 2000 });
    for (let attempt = 1; !told.includes('gone'); attempt++) {
      await until('connected', attempt);
      await app.until(({ requests }) => requests.length === attempt);
      app.socket.terminate();
      await until('lost', attempt);
      clock.advance(4000);
    }
    expect(told.filter((each) => each === 'lost')).toHaveLength(2);
  });

  it('has all its attempts again after a good while', async () => {
    await connected({ reconnectMs: 300 });
    clock.advance(10_000);
    app.socket.terminate();
    await until('lost');
    clock.advance(250);
    await until('connected', 2);
  });
});

describe('an app that does not do its part', () => {
  it('is lost when it answers no ping', async () => {
    await connected();
    app.socket.pause();
    clock.advance(15_000);
    expect(told).toEqual(['connected']);
    clock.advance(15_000);
    await until('lost');
  });

  it('is not lost while it answers them', async () => {
    await connected();
    for (let n = 0; n < 4; n++) {
      clock.advance(15_000);
      // The first only shows that the app has read the ping.
      await app.exchanged();
      await app.exchanged();
    }
    expect(told).toEqual(['connected']);
  });

  it('is lost when it reads so slowly that too much waits for it', async () => {
    const made = await connected({ sendBufferMaxBytes: 100_000 });
    app.socket.pause();
    const long: FrameToApp = { type: 'prompt', voicePrompt: 'word '.repeat(10_000), lang: 'en-US', last: true };
    // What the kernel takes does not count.
    for (let n = 0; n < 1000; n++) made.send(long);
    app.socket.resume();
    await until('lost');
  });

  it('is lost when it sends more than a message may hold', async () => {
    await connected({ messageMaxBytes: 1024 });
    app.say({ type: 'text', token: 'x'.repeat(2000) });
    await until('lost');
    expect(told).toEqual(['connected', 'lost']);
  });

  it('waits with what it says while nobody reads', async () => {
    const made = await connected();
    made.pause();
    app.say('one');
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(told).toEqual(['connected']);
    made.resume();
    await until('one');
  });

  it('is not read either when it comes back while nobody reads', async () => {
    const made = await connected();
    made.pause();
    app.socket.terminate();
    made.resume();
    await until('lost');
    made.pause();
    clock.advance(250);
    await app.until(({ frames }) => frames.length === 2);
    app.say('one');
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(told).not.toContain('one');
    made.resume();
    await until('one');
  });
});

describe('why there is no connection', () => {
  it('is told by the code of the error', async () => {
    await app.close();
    connect({ reconnectMs: 0 });
    await until('gone');
    expect(reasons).toEqual(['ECONNREFUSED', null]);
  });

  it('is told by the status of what is no WebSocket server', async () => {
    const server = createServer((_request, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    connect({ reconnectMs: 0 }, {}, `ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await until('gone');
    server.close();
    expect(reasons[0]).toBe('Unexpected server response: 404');
  });

  it('is told by the close code of a connection that broke', async () => {
    await connected();
    app.socket.close(1011);
    await until('lost');
    expect(reasons.at(-1)).toBe('closed with 1011');
  });
});
