/** Requests that are answered before their body has come whole, and the next ones on the same connection. */
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../helpers/eventually.ts';
import { type RecordingServer, startRecordingServer } from '../recording-server.ts';

let testServer: RecordingServer;
beforeEach(async () => {
  testServer = await startRecordingServer();
});
afterEach(() => testServer.close());

/** More than the sockets and streams in between hold. */
const FILE_BYTES = 4_000_000;
const PARTS = {
  'a field that is a list':
    'Content-Disposition: form-data; name="model"\r\nContent-Type: application/json\r\n\r\n["a"]',
  'a file under another name': 'Content-Disposition: form-data; name="model"; filename="m"\r\n\r\nwhisper-1',
} as const;

it.each(
  ['/v1/audio/transcriptions', '/v1/audio/subtitles', '/v1/batches', '/v1/audio/speech/clone'].flatMap((path) =>
    Object.entries(PARTS).map(([what, part]) => [path, what, part] as const),
  ),
)('%s answers the request behind %s', async (path, _what, part) => {
  const form =
    `--b\r\n${part}\r\n--b\r\nContent-Disposition: form-data; name="file"; ` +
    `filename="f"\r\n\r\n${'x'.repeat(FILE_BYTES)}\r\n--b--\r\n`;
  const head =
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; ` +
    `boundary=b\r\nContent-Length: ${form.length}\r\n\r\n`;
  const client = connect(Number(new URL(testServer.url).port), '127.0.0.1');
  let answers = '';
  client.on('data', (data) => {
    answers += data.toString();
  });
  client.write(`${head}${form}GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  await eventually(() => expect(answers.match(/HTTP\/1\.1 \d+/g)?.[1]).toBe('HTTP/1.1 200'));
  client.destroy();
});
