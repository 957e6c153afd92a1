/** Clients that go away between their request's head and the moment at which its body is read. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Batches } from '../../src/jobs/batches.ts';
import { Recordings } from '../../src/recordings/recordings.ts';
import { eventually } from '../helpers/eventually.ts';
import { type RecordingServer, startRecordingServer } from './recording-server.ts';

let testServer: RecordingServer;
beforeEach(async () => {
  testServer = await startRecordingServer();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await testServer.close();
});

/** Begins an upload to `path`. Returns what makes its client leave, and resolves when the server knows of that. */
function upload(path: string): () => Promise<void> {
  const served = once(testServer.app.server, 'connection') as Promise<[Socket]>;
  const client = connect(Number(new URL(testServer.url).port), '127.0.0.1');
  client.write(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000\r\nContent-Type: multipart/form-data; ` +
      'boundary=b\r\n\r\n--b\r\n',
  );
  return async () => {
    const [socket] = await served;
    const gone = once(socket, 'close');
    client.destroy();
    await gone;
  };
}

it('take no place among the recordings with them', async () => {
  const { admit } = Recordings.prototype;
  const admitted = vi.spyOn(Recordings.prototype, 'admit').mockImplementation(async function (this: Recordings) {
    const place = await admit.call(this);
    await leave();
    return place;
  });
  const leave = upload('/v1/audio/transcriptions');
  await eventually(() => expect(admitted).toHaveResolved());
  await eventually(async () => expect((await testServer.metrics.files.get()).values[0]?.value).toBe(0));
});

it('take no place among the batches with them', async () => {
  const { draft } = Batches.prototype;
  vi.spyOn(Batches.prototype, 'draft').mockImplementation(async function (this: Batches, tenant) {
    const drafted = await draft.call(this, tenant);
    await leave();
    return drafted;
  });
  const discarded = vi.spyOn(Batches.prototype, 'discard');
  const leave = upload('/v1/batches');
  await eventually(() => expect(discarded).toHaveResolved());
});
