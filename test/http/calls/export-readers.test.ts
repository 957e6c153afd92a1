import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { READER_STALL_MS } from '../../../src/http/speech/streamed-body.ts';
import { settle } from '../../fakes/clock.ts';
import { addCall } from '../../helpers/record-rows.ts';
import { DATABASES } from '../../records/databases.ts';
import { said } from '../../records/told-calls.ts';
import { listen, startServer, type TestServer } from '../test-server.ts';

/** More than the buffers of a socket hold. */
const CALLS = 300;
const TEXT_CHARS = 60_000;

const databases = DATABASES[0].start();
afterAll(() => databases.end());

let server: TestServer;
let port: number;
const sockets: Socket[] = [];
beforeEach(async () => {
  const database = await databases.open();
  server = await startServer({}, undefined, undefined, null, database);
  port = Number(new URL(await listen(server.app)).port);
  for (let seq = 1; seq <= CALLS; seq++) await addCall(database.db, seq, []);
  const content = JSON.stringify(said('CA1', 1, 'x'.repeat(TEXT_CHARS)));
  const rows = Array.from({ length: CALLS }, (_, n) => ({ epoch: 'e', number: n + 1, call_seq: n + 1 }));
  await database.db
    .insertInto('events')
    .values(rows.map((row) => ({ ...row, type: 'caption', at_ms: 0, content })))
    .execute();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.app.close();
  await server.kept?.records.close();
});

/** Asks for an export and reads its first bytes alone. */
async function stallingReader(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write('GET /v1/calls/export HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await once(socket, 'readable');
  return socket;
}

/** The status of another export, of which nothing is read. */
async function ask(): Promise<number> {
  const leave = new AbortController();
  const { status } = await fetch(`http://127.0.0.1:${port}/v1/calls/export`, { signal: leave.signal });
  leave.abort();
  return status;
}

describe('exports', () => {
  it('are four at once, and a reader that leaves gives its place back', async () => {
    const readers = await Promise.all([1, 2, 3, 4].map(() => stallingReader()));
    expect(await ask()).toBe(429);
    readers[0]?.destroy();
    await expect.poll(ask).toBe(200);
  });

  it('do not wait for ever for readers that take nothing', async () => {
    await Promise.all([1, 2, 3, 4].map(() => stallingReader()));
    await expect.poll(ask).toBe(429);
    const wait = async (): Promise<number> => {
      server.clock.advance(READER_STALL_MS);
      await settle();
      return ask();
    };
    await expect.poll(wait).toBe(200);
  });
});
