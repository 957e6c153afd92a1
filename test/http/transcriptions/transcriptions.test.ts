import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { concat, silence, spoken } from '../../fakes/engine.ts';
import { eventually } from '../../helpers/eventually.ts';
import { readSubtitles } from '../../helpers/subtitles.ts';
import { formOf, type RecordingServer, speechFile, startRecordingServer, track, wavFile } from '../recording-server.ts';

let testServer: RecordingServer;
afterEach(() => testServer.close());

const post = (form: FormData, path = '/v1/audio/transcriptions', headers: Record<string, string> = {}) =>
  fetch(`${testServer.url}${path}`, { method: 'POST', body: form, headers });

const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; param: string; message: string } }).error;

const eventsOf = (body: string) =>
  body.split('\n\n').flatMap((block) => (block === '' ? [] : [JSON.parse(block.slice('data: '.length))]));

describe('POST /v1/audio/transcriptions', () => {
  it('answers json unless told otherwise', async () => {
    testServer = await startRecordingServer();
    const response = await post(formOf(speechFile([1, 2], [3]), [['model', 'whisper-1']]));
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({
      text: 'W1 w2. W3.',
      language: 'english',
      usage: { type: 'duration', seconds: 6 },
    });
  });

  it('refuses a field that came as a list in JSON, however deep', async () => {
    testServer = await startRecordingServer();
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const body =
      '--b\r\nContent-Disposition: form-data; name="language"\r\nContent-Type: ' +
      `application/json\r\n\r\n${deep}\r\n--b--\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const response = await fetch(`${testServer.url}/v1/audio/transcriptions`, { method: 'POST', body, headers });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({
      code: 'invalid_request',
      param: 'language',
      message: `language: got ${'['.repeat(80)}…, expected text`,
    });
  });

  it('answers text with a newline', async () => {
    testServer = await startRecordingServer();
    const response = await post(formOf(speechFile([1, 2]), [['response_format', 'text']]));
    expect([response.headers.get('content-type'), await response.text()]).toEqual([
      'text/plain; charset=utf-8',
      'W1 w2.\n',
    ]);
  });

  it.each(['srt', 'vtt'])('answers %s that others can read, lines as short as asked for', async (format) => {
    testServer = await startRecordingServer();
    const long = speechFile([11, 12, 13, 14], [15]);
    const response = await post(
      formOf(long, [
        ['response_format', format],
        ['max_line_chars', '10'],
      ]),
    );
    const entries = readSubtitles(await response.text());
    expect(entries.map(({ text }) => text)).toEqual(['W11 w12\nw13 w14.', 'W15.']);
    expect(entries[1]?.from).toBe(4928);
  });

  it.each([
    ['timestamp_granularities[]', ['word', 'segment']],
    ['timestamp_granularities', ['word', 'segment']],
    ['timestamp_granularities', ['word,segment']],
  ])('gives words and segments for %s = %s', async (name, values) => {
    testServer = await startRecordingServer();
    const fields = values.map((value) => [name, value] as const);
    const response = await post(formOf(speechFile([1, 2]), [['response_format', 'verbose_json'], ...fields]));
    expect(await response.json()).toMatchObject({
      task: 'transcribe',
      language: 'english',
      duration: 1.05,
      text: 'W1 w2.',
      segments: [{ id: 0, seek: 0, start: 0, text: ' W1 w2.', tokens: [] }],
      words: [{ word: 'W1', start: 0 }, { word: 'w2.' }],
      word_times: 'estimated',
    });
  });

  it('says so when the recogniser itself told when the words were said', async () => {
    testServer = await startRecordingServer();
    testServer.engine.hear = () => ({
      text: 'One two.',
      words: [
        { text: 'One', startMs: 20, endMs: 180 },
        { text: 'two.', startMs: 180, endMs: 400 },
      ],
    });
    const fields = [['response_format', 'verbose_json'] as const, ['timestamp_granularities', 'word'] as const];
    expect(await (await post(formOf(speechFile([1, 2]), fields))).json()).toMatchObject({
      words: [
        { word: 'One', start: 0.02, end: 0.18 },
        { word: 'two.', start: 0.18, end: 0.4 },
      ],
      word_times: 'aligned',
    });
  });

  it.each([
    ['srt', [], true],
    ['vtt', [], true],
    ['verbose_json', [['timestamp_granularities', 'word']], true],
    ['verbose_json', [], true],
    ['json', [['channels', 'split']], true],
    ['json', [], false],
    ['text', [], false],
  ] as const)(
    'spends time on when words were said only where somebody will see it: %s %j',
    async (format, fields, timed) => {
      testServer = await startRecordingServer();
      await (await post(formOf(speechFile([1]), [['response_format', format], ...fields]))).text();
      expect(testServer.engine.transcribed.map((request) => request.timed)).toEqual([timed]);
    },
  );

  it('gives segments alone unless words are asked for, and words alone when only those are', async () => {
    testServer = await startRecordingServer();
    const ask = async (fields: [string, string][]) =>
      Object.keys(
        (await (
          await post(formOf(speechFile([1]), [['response_format', 'verbose_json'], ...fields]))
        ).json()) as object,
      );
    expect(await ask([])).not.toContain('words');
    const words = await ask([['timestamp_granularities[]', 'word']]);
    expect([words.includes('words'), words.includes('segments')]).toEqual([true, false]);
  });

  it('takes the sides of a stereo recording as two speakers, merged by time', async () => {
    testServer = await startRecordingServer();
    const left = concat(track([1]), silence(4000), track([3]));
    const right = concat(silence(1400), track([2]), silence(4000));
    const file = wavFile([left, right]);
    const split = await post(
      formOf(file, [
        ['channels', 'split'],
        ['response_format', 'vtt'],
      ]),
    );
    expect((await split.text()).match(/<v .*/g)).toEqual(['<v channel 1>W1.', '<v channel 2>W2.', '<v channel 1>W3.']);
    const json = await post(formOf(file, [['channels', 'split']]));
    expect(await json.json()).toMatchObject({ text: 'W1. W2. W3.' });
  });

  it('keeps two who talk in turns in turns, however little they pause', async () => {
    testServer = await startRecordingServer();
    const left = concat(spoken([1]), silence(900), spoken([3]), silence(2000));
    const right = concat(silence(500), spoken([2]), silence(2625));
    const ask = (...fields: [string, string][]) =>
      post(formOf(wavFile([left, right]), [['channels', 'split'], ...fields]));
    expect(await (await ask()).json()).toMatchObject({ text: 'W1 W2. w3.' });
    const { segments } = (await (await ask(['response_format', 'verbose_json'])).json()) as {
      segments: { channel: number; text: string }[];
    };
    expect(segments.map(({ channel, text }) => [channel, text.trim()])).toEqual([
      [1, 'W1'],
      [2, 'W2.'],
      [1, 'w3.'],
    ]);
    const events = eventsOf(await (await ask(['stream', 'true'])).text());
    expect(events.map(({ delta }) => delta)).toEqual(['W1', ' W2.', ' w3.', undefined]);
  });

  it('ignores fields that it does not know', async () => {
    testServer = await startRecordingServer();
    const response = await post(
      formOf(speechFile([1]), [
        ['chunking_strategy', 'auto'],
        ['include[]', ''],
        ['prompt', 'Names'],
        ['temperature', '0.2'],
      ]),
    );
    expect(response.status).toBe(200);
  });

  it('mends endless repetitions', async () => {
    testServer = await startRecordingServer();
    testServer.engine.hear = () => ({ text: 'no '.repeat(60) });
    expect(await (await post(formOf(speechFile([1])))).json()).toMatchObject({
      text: expect.stringMatching(/^no ?(no)?$/),
    });
  });

  it('cleans doubled punctuation, and has the times of words all the same', async () => {
    testServer = await startRecordingServer();
    testServer.engine.hear = () => ({ text: 'However,,', words: [{ text: 'However,,', startMs: 20, endMs: 180 }] });
    const fields = [['response_format', 'verbose_json'] as const, ['timestamp_granularities', 'word'] as const];
    expect(await (await post(formOf(speechFile([1]), fields))).json()).toMatchObject({
      text: 'However,',
      words: [{ word: 'However,', start: 0.02 }],
      word_times: 'aligned',
    });
  });

  it('is behind every call: no job of it is a live one', async () => {
    testServer = await startRecordingServer({ API_KEYS: 'one,two' });
    for (const key of ['one', 'two'])
      await post(formOf(speechFile([1])), undefined, { authorization: `Bearer ${key}` });
    const jobs = [...testServer.engine.transcribed, ...testServer.engine.detected];
    expect(new Set(jobs.map(({ urgency }) => urgency))).toEqual(new Set(['batch']));
    expect(new Set(jobs.map(({ tenant }) => tenant)).size).toBe(2);
    expect(JSON.stringify(jobs)).not.toMatch(/one|two/);
  });
});

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
    ['of another language', formOf(speechFile([1]), [['language', 'de']]), 400, 'unsupported_language', 'language'],
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

describe('a transcript as a stream', () => {
  /** From the second piece on the engine waits for the clock. */
  function holdLaterPieces(): void {
    Object.defineProperty(testServer.engine, 'transcribeMs', {
      get: () => (testServer.engine.transcribed.length === 1 ? 0 : 10),
    });
  }

  /** The whole body; the clock goes on while it comes. */
  async function readOn(reader: ReadableStreamDefaultReader<string> | undefined): Promise<string> {
    let text = '';
    const ticking = setInterval(() => testServer.clock.advance(10), 5);
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value;
    clearInterval(ticking);
    return text;
  }

  it('has each piece as soon as it is there, and the deltas make the text', async () => {
    testServer = await startRecordingServer();
    holdLaterPieces();
    const response = await post(formOf(speechFile([1, 2], [3], [4]), [['stream', 'true']]));
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('"delta":"W1 w2."');
    expect(eventsOf(await readOn(reader))).toEqual([
      { type: 'transcript.text.delta', delta: ' W3.' },
      { type: 'transcript.text.delta', delta: ' W4.' },
      { type: 'transcript.text.done', text: 'W1 w2. W3. W4.', usage: { type: 'duration', seconds: 10 } },
    ]);
  });

  it('tells in the stream what goes wrong later', async () => {
    testServer = await startRecordingServer();
    holdLaterPieces();
    testServer.engine.hear = () => {
      testServer.engine.failure = 'unavailable';
      return { text: 'One.' };
    };
    const response = await post(formOf(speechFile([1], [2]), [['stream', 'true']]));
    const events = eventsOf(await readOn(response.body?.pipeThrough(new TextDecoderStream()).getReader()));
    expect(events).toMatchObject([{ delta: 'One.' }, { error: { code: 'engine_unavailable' } }]);
  });

  it('is refused with a status when it is wrong from the beginning', async () => {
    testServer = await startRecordingServer();
    expect((await post(formOf(new Blob(['text']), [['stream', 'true']]))).status).toBe(400);
  });

  it.each(['srt', 'vtt', 'verbose_json'])('is not made of %s: that comes whole', async (format) => {
    testServer = await startRecordingServer();
    const whole = await (await post(formOf(speechFile([1], [2]), [['response_format', format]]))).text();
    const asked = await post(
      formOf(speechFile([1], [2]), [
        ['response_format', format],
        ['stream', 'true'],
      ]),
    );
    expect([asked.headers.get('content-type'), await asked.text()]).toEqual([
      expect.not.stringContaining('event-stream'),
      whole,
    ]);
  });
});

describe('the paths of the Qwen3-ASR server', () => {
  it('stream pieces and say when it is over', async () => {
    testServer = await startRecordingServer();
    const body = await (
      await post(formOf(speechFile([1], [2]), [['language', 'auto']]), '/v1/audio/transcriptions/stream')
    ).text();
    expect(eventsOf(body)).toEqual([
      { text: 'W1.', language: 'English', is_final: true, chunk_index: 0 },
      { text: 'W2.', language: 'English', is_final: true, chunk_index: 1 },
      { done: true },
    ]);
  });

  it('give subtitles to be saved', async () => {
    testServer = await startRecordingServer();
    const response = await post(
      formOf(wavFile([concat(spoken([1]), silence(900))]), [['mode', 'accurate']]),
      '/v1/audio/subtitles',
    );
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="subtitles.srt"');
    expect(readSubtitles(await response.text()).map(({ text }) => text)).toEqual(['W1.']);
  });
});
