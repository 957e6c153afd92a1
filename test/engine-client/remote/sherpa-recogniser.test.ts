import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { RemoteError } from '../../../src/engine-client/remote/remote-recogniser.ts';
import { SherpaRecogniser } from '../../../src/engine-client/remote/sherpa-recogniser.ts';
import { eventually } from '../../helpers/eventually.ts';

let server: WebSocketServer;
let recogniser: SherpaRecogniser;
let connections: WebSocket[];
/** What is answered to an utterance of so many bytes; null = nothing. */
let answer: (bytes: number, socket: WebSocket) => string | null;

/** Collects an utterance as sherpa-onnx does: the first message says how many bytes there are. */
function serve(socket: WebSocket): void {
  connections.push(socket);
  let wanted = 0;
  let got = 0;
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isBinary) return;
    if (got === 0) wanted = data.readInt32LE(4) + 8;
    got += data.length;
    if (got < wanted) return;
    got = 0;
    const text = answer(wanted, socket);
    if (text !== null) socket.send(text);
  });
}

function ask(signal = new AbortController().signal, samples = 16_000): Promise<string> {
  return recogniser.recognise({ samples: new Int16Array(samples), urgency: 'final', signal }).then(
    ({ text }) => text,
    (error: Error) => (error instanceof RemoteError ? `${error.failure}: ${error.message}` : error.name),
  );
}

beforeEach(async () => {
  connections = [];
  answer = (bytes) => JSON.stringify({ text: `got ${bytes}` });
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', serve);
  await once(server, 'listening');
  recogniser = new SherpaRecogniser(new URL(`sherpa+ws://127.0.0.1:${(server.address() as AddressInfo).port}`));
});

afterEach(() => {
  recogniser.close();
  for (const socket of connections) socket.terminate();
  server.close();
});

describe('a server of sherpa-onnx', () => {
  it('gets one utterance after the other on one connection', async () => {
    for (let n = 0; n < 3; n++) expect(await ask()).toBe('got 64008');
    expect(connections).toHaveLength(1);
  });

  it('gets utterances at the same time on connections of their own', async () => {
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(['got 64008', 'got 64008', 'got 64008']);
    expect(connections).toHaveLength(3);
  });

  it('is asked again where a kept connection had been closed', async () => {
    await ask();
    answer = (bytes, socket) => {
      if (socket === connections[0]) socket.terminate();
      return socket === connections[0] ? null : `got ${bytes}`;
    };
    expect(await ask()).toBe('got 64008');
  });

  it('that closes without an answer has failed', async () => {
    answer = (_bytes, socket) => {
      socket.close();
      return null;
    };
    expect(await ask()).toBe('failed: it closed the connection without an answer');
  });

  it('that answers with anything else is of no use', async () => {
    answer = () => '{"error": "no"}';
    expect(await ask()).toBe('unusable: what it answered is no result');
    answer = () => 'a'.repeat(1000);
    expect(await ask()).toBe('unusable: what it answered is no result');
    answer = () => 'a'.repeat(300_000);
    expect(await ask()).toContain('failed');
  });

  it('that answers twice is not taken to have answered the next utterance', async () => {
    expect(await ask()).toBe('got 64008');
    connections[0]?.send('the words of another');
    await eventually(() => expect(connections[0]?.readyState).toBe(3));
    expect(await ask()).toBe('got 64008');
    expect(connections).toHaveLength(2);
  });

  it('that hangs is left when nobody waits any more', async () => {
    answer = () => null;
    const asking = new AbortController();
    const asked = ask(asking.signal);
    await eventually(() => expect(connections).toHaveLength(1));
    asking.abort();
    expect(await asked).toContain('failed');
    await eventually(() => expect(connections[0]?.readyState).toBe(3));
    expect(await ask(asking.signal)).toContain('failed');
  });

  it('that is not there has failed', async () => {
    recogniser = new SherpaRecogniser(new URL('sherpa+ws://127.0.0.1:1'));
    expect(await ask()).toBe('failed: it could not be reached (ECONNREFUSED)');
  });
});
