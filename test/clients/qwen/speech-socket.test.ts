import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../helpers/eventually.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../../http/test-server.ts';

const PATH = '/v1/audio/speech/ws';

let testServer: TestServer;
let url: string;
beforeEach(() => open());
afterEach(() => testServer.app.close());

async function open(environment: Record<string, string> = {}): Promise<void> {
  testServer = await startServer(environment);
  url = await listen(testServer.app);
}

/** A client that keeps all messages: ms of sound at 24 kHz as numbers, events as objects. */
class Client {
  readonly received: unknown[] = [];
  readonly socket: WebSocket;

  constructor() {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}${PATH}`);
    this.socket.on('message', (data: Buffer, isBinary) =>
      this.received.push(isBinary ? data.length / 48 : JSON.parse(data.toString())),
    );
  }

  async send(...requests: readonly unknown[]): Promise<void> {
    if (this.socket.readyState !== WebSocket.OPEN) await once(this.socket, 'open');
    for (const each of requests) this.socket.send(typeof each === 'string' ? each : JSON.stringify(each));
  }

  async receives(expected: readonly unknown[]): Promise<void> {
    await eventually(() => expect(this.received).toHaveLength(expected.length));
    expect(this.received).toEqual(expected);
  }

  /** Resolves with close code and reason. */
  async closed(): Promise<[number, string]> {
    const [code, reason] = (await once(this.socket, 'close')) as [number, Buffer];
    return [code, reason.toString()];
  }
}

const DONE = { event: 'done' };

describe('WS /v1/audio/speech/ws', () => {
  it('says each sentence in a message, and when it is done', async () => {
    const client = new Client();
    await client.send({ input: 'One is here. Two is there.', voice: 'alloy', temperature: 1 });
    await client.receives([240, 260, DONE]);
  });

  it('serves requests one after the other', async () => {
    const client = new Client();
    await client.send({ input: 'One is here.' }, { input: 'Two.', speed: 2 }, { input: 'Three.', sample_rate: 48_000 });
    await client.receives([240, DONE, 40, DONE, 240, DONE]);
  });

  it('goes on after a message that is no request', async () => {
    const client = new Client();
    await client.send(
      'rubbish',
      { input: '' },
      [],
      { input: 'Hello.', voice: 'nobody' },
      { input: '...' },
      { input: 'Hello.' },
    );
    const error = (code: string, message: RegExp) => ({
      event: 'error',
      detail: expect.stringMatching(message),
      error: expect.objectContaining({ code, message: expect.stringMatching(message) }),
    });
    await client.receives([
      error('message_malformed', /JSON/),
      error('invalid_request', /request\.input/),
      error('invalid_request', /request: .*object/),
      error('invalid_request', /nobody/),
      error('invalid_request', /nothing in it that can be spoken/),
      120,
      DONE,
    ]);
  });

  it('gives a request up when the client goes away', async () => {
    testServer.engine.speakMs = 100;
    const client = new Client();
    await client.send({ input: 'One is here.' }, { input: 'Two is there.' });
    await eventually(() => expect(testServer.engine.pending).toBe(1));
    client.socket.terminate();
    await eventually(() => expect(testServer.engine.pending).toBe(0));
    expect(testServer.engine.spoken).toHaveLength(1);
  });

  it('is closed when no request comes for long, more than can wait, or one that is not text', async () => {
    const silent = new Client();
    await once(silent.socket, 'open');
    testServer.clock.advance(60_000);
    expect(await silent.closed()).toEqual([4409, 'media_timeout']);

    testServer.engine.speakMs = 100;
    const greedy = new Client();
    await greedy.send(...Array.from({ length: 18 }, () => ({ input: 'Hello.' })));
    expect(await greedy.closed()).toEqual([1013, 'too_many_requests']);

    const binary = new Client();
    await once(binary.socket, 'open');
    binary.socket.send(Buffer.from('{}'));
    expect(await binary.closed()).toEqual([1003, 'message_binary']);
  });

  it('counts as a request as long as it is open', async () => {
    await testServer.app.close();
    await open({ SPEECH_REQUESTS_MAX: '1' });
    const first = new Client();
    await once(first.socket, 'open');
    expect(await new Client().closed()).toEqual([1013, 'too_many_requests']);
    first.socket.close();
    await first.closed();
    await eventually(async () => {
      const answer = await testServer.app.inject({
        method: 'POST',
        url: '/v1/audio/speech',
        payload: { input: 'Hello.' },
      });
      expect(answer.statusCode).toBe(200);
    });
  });

  it('asks for a key, and for an upgrade', async () => {
    expect((await testServer.app.inject(PATH)).statusCode).toBe(400);
    await testServer.app.close();
    await open({ API_KEYS: 'secret' });
    expect(await upgradeStatus(`${url}${PATH}`)).toBe(401);
    expect(await upgradeStatus(`${url}${PATH}`, { authorization: 'Bearer secret' })).toBe(101);
  });
});
