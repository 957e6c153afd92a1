import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../helpers/eventually.ts';
import { formOf, type RecordingServer, speechFile, startRecordingServer, track, wavFile } from '../recording-server.ts';

let testServer: RecordingServer;
afterEach(() => testServer.close());

const post = (form: FormData, path = '/v1/audio/transcriptions', headers: Record<string, string> = {}) =>
  fetch(`${testServer.url}${path}`, { method: 'POST', body: form, headers });

const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; param: string; message: string } }).error;

describe('a recording that is refused', () => {
  it.each<[string, FormData, number, string, string | null]>([
    ['without a file', formOf(null, [['model', 'x']]), 400, 'invalid_request', 'file'],
    ['that is text', formOf(new Blob(['{"a": 1}'])), 400, 'audio_unreadable', 'file'],
    ['that is empty', formOf(new Blob([])), 400, 'audio_unreadable', 'file'],
    ['with audio of no length', formOf(wavFile([new Int16Array(0)])), 400, 'audio_unreadable', 'file'],
    ['with log probabilities', formOf(speechFile([1]), [['include[]', 'logprobs']]), 400, 'invalid_request', 'include'],
    [
      'with log probabilities in a list',
      formOf(speechFile([1]), [['include', '["logprobs"]']]),
      400,
      'invalid_request',
      'include',
    ],
    ['with more than there is', formOf(speechFile([1]), [['include[]', 'usage']]), 400, 'invalid_request', 'include'],
    [
      'with log probabilities as subtitles',
      formOf(speechFile([1]), [
        ['include[]', 'logprobs'],
        ['response_format', 'srt'],
      ]),
      400,
      'invalid_request',
      'include',
    ],
    ['of another language', formOf(speechFile([1]), [['language', 'de']]), 400, 'unsupported_language', 'language'],
    [
      'with a field that is too long',
      formOf(speechFile([1]), [['prompt', 'a'.repeat(65_537)]]),
      400,
      'invalid_request',
      'prompt',
    ],
    ['with a model there is not', formOf(speechFile([1]), [['model', 'gpt-5']]), 404, 'model_not_found', 'model'],
    [
      'in a format there is not',
      formOf(speechFile([1]), [['response_format', 'xml']]),
      400,
      'invalid_request',
      'response_format',
    ],
    ['with an impossible number', formOf(speechFile([1]), [['max_cue_ms', '5']]), 400, 'invalid_request', 'max_cue_ms'],
    [
      'with granularities there are not',
      formOf(speechFile([1]), [['timestamp_granularities[]', 'letter']]),
      400,
      'invalid_request',
      'timestamp_granularities',
    ],
    ['that is too long', formOf(wavFile([new Int16Array(16_000 * 4)])), 413, 'audio_too_long', 'file'],
    ['that is too large', formOf(wavFile([new Int16Array(16_000 * 5)])), 413, 'upload_too_large', 'file'],
    [
      'with three speakers',
      formOf(wavFile([track([1]), track([2]), track([3])]), [['channels', 'split']]),
      400,
      'audio_unreadable',
      'file',
    ],
  ])('%s says so', async (_what, form, status, code, param) => {
    testServer = await startRecordingServer({ AUDIO_MAX_SECONDS: '3', UPLOAD_MAX_BYTES: '150000' });
    const response = await post(form);
    expect([response.status, await errorOf(response)]).toMatchObject([status, { code, param }]);
    await eventually(() => expect(testServer.files()).toEqual([]));
  });

  it('says what it wants when the body is no form', async () => {
    testServer = await startRecordingServer();
    const response = await fetch(`${testServer.url}/v1/audio/transcriptions`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect([response.status, (await errorOf(response)).param]).toEqual([400, 'file']);
  });

  it('is told when to come again while too many are in work', async () => {
    testServer = await startRecordingServer({ BATCH_QUEUE_MAX: '1' });
    const place = await testServer.recordings.admit();
    const response = await post(formOf(speechFile([1])));
    expect([response.status, response.headers.get('retry-after'), (await errorOf(response)).code]).toEqual([
      429,
      '2',
      'batch_queue_full',
    ]);
    await place.release();
    expect((await post(formOf(speechFile([1])))).status).toBe(200);
  });

  it('is told that the gateway is going', async () => {
    testServer = await startRecordingServer();
    await testServer.recordings.drain(0);
    const response = await post(formOf(speechFile([1])));
    expect([response.status, (await errorOf(response)).code]).toEqual([503, 'draining']);
  });

  it('says that the engine is gone', async () => {
    testServer = await startRecordingServer();
    testServer.engine.failure = 'unavailable';
    const response = await post(formOf(speechFile([1])));
    expect([response.status, (await errorOf(response)).code]).toEqual([503, 'engine_unavailable']);
    await eventually(() => expect(testServer.files()).toEqual([]));
  });

  it('is told at once that the two gigabytes it claims to send are too many', async () => {
    testServer = await startRecordingServer();
    const socket = connect(Number(new URL(testServer.url).port), '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (text) => {
      answer += text;
    });
    socket.write(
      'POST /v1/audio/transcriptions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ' +
        '2147483648\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n',
    );
    await eventually(() => expect(answer).toMatch(/^HTTP\/1.1 413 .*upload_too_large/s));
    socket.destroy();
  });

  it('is told to come again when recordings take all of the disk that they may', async () => {
    testServer = await startRecordingServer({ UPLOAD_DISK_MAX_BYTES: '100000' });
    const place = await testServer.recordings.admit();
    writeFileSync(place.path, Buffer.alloc(60_000));
    await testServer.recordings.disk.adopt(place.path);
    const response = await post(formOf(speechFile([1, 2, 3])));
    const { code, message } = await errorOf(response);
    expect([response.status, code]).toEqual([503, 'upload_disk_full']);
    expect(message).toContain('100000 bytes of disk (UPLOAD_DISK_MAX_BYTES)');
    await place.release();
    expect((await post(formOf(speechFile([1, 2, 3])))).status).toBe(200);
    await eventually(async () => expect((await testServer.metrics.uploadDiskBytes.get()).values[0]?.value).toBe(0));
  });

  it('leaves nothing behind when the upload breaks off', async () => {
    testServer = await startRecordingServer();
    const socket = connect(Number(new URL(testServer.url).port), '127.0.0.1');
    const head =
      'POST /v1/audio/transcriptions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000\r\nContent-Type: ' +
      'multipart/form-data; boundary=b\r\n\r\n';
    socket.write(`${head}--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nRIFF`);
    await eventually(() => expect(testServer.files()).toHaveLength(1));
    socket.destroy();
    await eventually(() => expect(testServer.files()).toEqual([]));
  });
});

describe('a client that goes away', () => {
  it('takes its work with it', async () => {
    testServer = await startRecordingServer();
    testServer.engine.transcribeMs = 1_000_000;
    const leaving = new AbortController();
    const request = fetch(`${testServer.url}/v1/audio/transcriptions`, {
      method: 'POST',
      body: formOf(speechFile([1])),
      signal: leaving.signal,
    });
    const gone = expect(request).rejects.toThrow();
    await eventually(() => expect(testServer.engine.pending).toBe(1));
    leaving.abort();
    await gone;
    await eventually(() => expect([testServer.engine.pending, testServer.files()]).toEqual([0, []]));
  });
});
