import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../helpers/eventually.ts';
import { formOf, type RecordingServer, speechFile, startRecordingServer } from '../../http/recording-server.ts';

let testServer: RecordingServer;

afterEach(() => testServer.close());

async function begin(form: FormData, headers: Record<string, string> = {}) {
  const response = await fetch(`${testServer.url}/v1/batches`, { method: 'POST', body: form, headers });
  return {
    status: response.status,
    replayed: response.headers.get('idempotent-replayed'),
    body: (await response.json()) as { id: string },
  };
}

async function read(path: string): Promise<unknown> {
  return (await fetch(`${testServer.url}${path}`)).json();
}

describe('/v1/batches', () => {
  it('takes files, tells of their ends and gives their transcripts in every format', async () => {
    testServer = await startRecordingServer();
    const form = formOf(speechFile([1, 2]));
    form.append('file', new Blob(['not audio at all']), 'b.wav');
    const { status, body } = await begin(form);
    expect(status).toBe(202);
    const events = await (await fetch(`${testServer.url}/v1/batches/${body.id}/events`)).text();
    expect(events).toMatch(/event: end\ndata: .*"state":"done"/);
    expect(await read(`/v1/batches/${body.id}`)).toMatchObject({
      counts: { total: 2, done: 1, failed: 1 },
      files: [{ state: 'done' }, { name: 'b.wav', state: 'failed', error: { code: 'audio_unreadable' } }],
    });
    expect(await read(`/v1/batches/${body.id}/files/0`)).toMatchObject({ text: 'W1 w2.' });
    const srt = await fetch(`${testServer.url}/v1/batches/${body.id}/files/0?responseFormat=srt`);
    expect(await srt.text()).toMatch(/^1\n00:00:00,\d+ --> .*\nW1 w2\./);
    expect(await read('/v1/batches')).toMatchObject({ data: [{ id: body.id }] });
  });

  it('gives all transcripts as lines of JSON, from a file on', async () => {
    testServer = await startRecordingServer();
    const form = formOf(speechFile([1, 2]));
    form.append('file', new Blob(['not audio at all']), 'b.wav');
    const { body } = await begin(form);
    await (await fetch(`${testServer.url}/v1/batches/${body.id}/events`)).text();
    const results = await fetch(`${testServer.url}/v1/batches/${body.id}/results`);
    expect(results.headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
    const lines = (await results.text()).split('\n');
    expect(lines.slice(0, 2).map((line) => JSON.parse(line))).toMatchObject([
      { number: 0, state: 'done', error: null, transcript: { text: 'W1 w2.' } },
      { number: 1, name: 'b.wav', state: 'failed', error: { code: 'audio_unreadable' }, transcript: null },
    ]);
    const rest = await fetch(`${testServer.url}/v1/batches/${body.id}/results?from=1&responseFormat=verbose_json`);
    expect(
      (await rest.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).number),
    ).toEqual([1]);
    expect((await fetch(`${testServer.url}/v1/batches/unknown/results`)).status).toBe(404);
  });

  it('reads its files in the language and with the hot words that it names', async () => {
    testServer = await startRecordingServer();
    const { engine } = testServer;
    engine.languages = ['en', 'de'];
    const form = formOf(speechFile([1, 2]), [
      ['language', 'German'],
      ['hotWords', 'Müller, Trunkline'],
    ]);
    const { status, body } = await begin(form);
    expect(status).toBe(202);
    await (await fetch(`${testServer.url}/v1/batches/${body.id}/events`)).text();
    expect(engine.of('batch')).not.toEqual([]);
    for (const request of engine.of('batch'))
      expect(request).toMatchObject({ language: 'de', hotWords: ['Müller', 'Trunkline'] });
    expect(await read(`/v1/batches/${body.id}/files/0?responseFormat=verbose_json`)).toMatchObject({
      language: 'german',
    });
  });

  it.each([
    [{ language: 'fr' }, 'unsupported_language'],
    [{ language: 'as usual' }, 'invalid_request'],
    [{ hotWords: ['x'.repeat(65)] }, 'invalid_request'],
    [{ hotWords: 7 }, 'invalid_request'],
  ])('refuses %j when it is submitted', async (fields, code) => {
    testServer = await startRecordingServer();
    const answer = await fetch(`${testServer.url}/v1/batches`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ inputs: [{ url: 'http://127.0.0.1/a.wav' }], ...fields }),
    });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: expect.objectContaining({ code, param: Object.keys(fields)[0] }) },
    ]);
    expect(await read('/v1/batches')).toMatchObject({ data: [] });
  });

  it('takes no more of the disk than recordings may, and gives all of it back', async () => {
    testServer = await startRecordingServer({ UPLOAD_DISK_MAX_BYTES: '65536' });
    const taken = async () => (await testServer.metrics.uploadDiskBytes.get()).values[0]?.value;
    const form = formOf(speechFile([1, 2, 3]));
    form.append('file', speechFile([4, 5, 6]), 'b.wav');
    expect(await begin(form)).toMatchObject({ status: 503, body: { error: { code: 'upload_disk_full' } } });
    expect(await taken()).toBe(0);
    const { status, body } = await begin(formOf(speechFile([1, 2, 3])));
    expect(status).toBe(202);
    await (await fetch(`${testServer.url}/v1/batches/${body.id}/events`)).text();
    expect(await taken()).toBe(0);
  });

  it('answers a repeated upload with the batch of the first', async () => {
    testServer = await startRecordingServer();
    const headers = { 'idempotency-key': 'k' };
    const first = await begin(formOf(speechFile([1])), headers);
    const second = await begin(formOf(speechFile([1])), headers);
    expect(second).toMatchObject({ status: 200, replayed: 'true', body: { id: first.body.id } });
    expect((await begin(formOf(speechFile([2])), headers)).status).toBe(409);
  });

  it('takes folders of BATCH_INPUT_DIR, and no more recordings from them than BATCH_FILES_MAX', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
    mkdirSync(join(folder, 'monday'));
    for (const name of ['a', 'b'])
      writeFileSync(join(folder, 'monday', name), Buffer.from(await speechFile([1]).arrayBuffer()));
    writeFileSync(join(folder, 'monday', 'notes.wav'), 'Minutes of the meeting');
    testServer = await startRecordingServer({ BATCH_INPUT_DIR: folder, BATCH_FILES_MAX: '3' });
    const ask = (...inputs: unknown[]) =>
      fetch(`${testServer.url}/v1/batches`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ inputs }),
      });
    const { id } = (await (await ask({ path: 'monday' })).json()) as { id: string };
    await fetch(`${testServer.url}/v1/batches/${id}/events`).then((response) => response.text());
    expect(await read(`/v1/batches/${id}`)).toMatchObject({
      state: 'done',
      progress: 1,
      counts: { total: 2, done: 2 },
      files: [{ name: 'monday/a', progress: 1 }, { name: 'monday/b' }],
    });
    const tooMany = await ask({ path: 'monday' }, { path: 'monday' });
    expect([tooMany.status, await tooMany.text()]).toEqual([400, expect.stringContaining('the most allowed')]);
    rmSync(folder, { recursive: true });
  });

  it('says at once that nothing here can translate', async () => {
    testServer = await startRecordingServer();
    const form = formOf(speechFile([1]), [['targetLanguage', 'de']]);
    expect(await begin(form)).toMatchObject({ status: 400, body: { error: { code: 'unsupported_model' } } });
    expect(await read('/v1/batches')).toEqual({ data: [], next: null });
  });

  it('lists the newest first, page by page, each tenant its own', async () => {
    testServer = await startRecordingServer();
    const ids: string[] = [];
    for (const word of [1, 2, 3]) ids.push((await begin(formOf(speechFile([word])))).body.id);
    const listed: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const page = (await read(`/v1/batches?limit=1&cursor=${next}`)) as {
        data: { id: string }[];
        next: string | null;
      };
      expect(page.data).toHaveLength(1);
      listed.push(...page.data.map(({ id }) => id));
      next = page.next;
    }
    expect(listed.toSorted()).toEqual(ids.toSorted());
  });

  it.each(['json', 'form'])('takes target_language, the old name of targetLanguage, in %s', async (kind) => {
    testServer = await startRecordingServer();
    const send = async (fields: Record<string, string>): Promise<unknown> => {
      const form = formOf(speechFile([1]), Object.entries(fields));
      const json = {
        body: JSON.stringify({ inputs: [{ path: 'a' }], ...fields }),
        headers: { 'content-type': 'application/json' },
      };
      const request = kind === 'form' ? { body: form } : json;
      return (await fetch(`${testServer.url}/v1/batches`, { method: 'POST', ...request })).json();
    };
    // Nothing can translate: the name is known where that is the error.
    expect(await send({ target_language: 'de' })).toMatchObject({ error: { code: 'unsupported_model' } });
    expect(await send({ target_language: 'de', targetLanguage: 'de' })).toMatchObject({
      error: { code: 'unsupported_model' },
    });
    expect(await send({ target_language: 'de', targetLanguage: 'fr' })).toMatchObject({
      error: {
        code: 'invalid_request',
        param: 'targetLanguage',
        message: 'targetLanguage: got "fr" and, by its old name target_language, "de"; expected one of the two names',
      },
    });
  });

  it('takes the old names of what is asked of a transcript, and refuses two values of one', async () => {
    testServer = await startRecordingServer();
    const { body } = await begin(formOf(speechFile([1, 2])));
    await (await fetch(`${testServer.url}/v1/batches/${body.id}/events`)).text();
    const ask = (query: string) => fetch(`${testServer.url}/v1/batches/${body.id}/files/0?${query}`);
    const old = 'response_format=verbose_json&timestamp_granularities=word&max_line_chars=20&as_spoken=true';
    const current = 'responseFormat=verbose_json&timestampGranularities=word&maxLineChars=20&asSpoken=true';
    expect(await (await ask(old)).json()).toEqual(await (await ask(current)).json());
    expect((await ask('response_format=srt&responseFormat=vtt')).status).toBe(400);
    expect(await (await ask('maxLineChars=9')).json()).toMatchObject({
      error: { message: 'query.maxLineChars: got "9", expected a number from 10 to 200' },
    });
  });

  it('leaves nothing of a batch whose upload breaks off', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
    testServer = await startRecordingServer({ BATCH_DIR: folder });
    const drafts = () =>
      readdirSync(folder, { withFileTypes: true }).filter(
        (entry) => /^[0-9a-f]{8}-/.test(entry.name) && entry.isDirectory(),
      );
    const socket = connect(Number(new URL(testServer.url).port), '127.0.0.1');
    const head =
      'POST /v1/batches HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000\r\nContent-Type: ' +
      'multipart/form-data; boundary=b\r\n\r\n';
    socket.write(`${head}--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nRIFF`);
    await eventually(() => expect(drafts()).toHaveLength(1));
    socket.destroy();
    await eventually(() => expect(drafts()).toEqual([]));
    rmSync(folder, { recursive: true, force: true });
  });

  it('cancels', async () => {
    testServer = await startRecordingServer();
    testServer.engine.transcribeMs = 1000;
    const { body } = await begin(formOf(speechFile([1])));
    const cancelled = await fetch(`${testServer.url}/v1/batches/${body.id}`, { method: 'DELETE' });
    expect(await cancelled.json()).toMatchObject({ state: 'cancelled', counts: { cancelled: 1 } });
    expect((await fetch(`${testServer.url}/v1/batches/${body.id}/files/0`)).status).toBe(409);
  });

  it.each([
    [{ inputs: [] }, 'invalid_request'],
    [{ inputs: [{ url: 'file:///etc/passwd' }] }, 'invalid_request'],
    [{ inputs: [{ path: 'a' }], webhookUrl: 'https://example.com/' }, 'invalid_request'],
  ])('refuses %j', async (body, code) => {
    testServer = await startRecordingServer();
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${testServer.url}/v1/batches`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it('does not fetch from a private network', async () => {
    testServer = await startRecordingServer();
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ inputs: [{ url: `${testServer.url}/health` }] });
    const { id } = (await (await fetch(`${testServer.url}/v1/batches`, { method: 'POST', headers, body })).json()) as {
      id: string;
    };
    await eventually(async () =>
      expect(await read(`/v1/batches/${id}`)).toMatchObject({ files: [{ error: { code: 'input_refused' } }] }),
    );
  });

  it('refuses more files and more bytes than are allowed', async () => {
    testServer = await startRecordingServer({ BATCH_FILES_MAX: '1', BATCH_MAX_BYTES: '1024' });
    const two = formOf(new Blob(['a']));
    two.append('file', new Blob(['b']), 'b');
    expect((await begin(two)).status).toBe(400);
    expect((await begin(formOf(new Blob([new Uint8Array(2000)])))).status).toBe(413);
  });
});
