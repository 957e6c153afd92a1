import { afterEach, describe, expect, it } from 'vitest';
import type { RecogniserAbilities } from '../../../engine/recogniser-abilities.ts';
import { concat, silence, spoken } from '../../fakes/engine.ts';
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

  it.each([
    [true, { hotWords: undefined, context: 'Müller, Trunkline' }],
    [false, { hotWords: ['Müller', 'Trunkline'], context: undefined }],
  ])('gives a prompt to a recogniser that reads it (%s), and hot words of it to others', async (context, expected) => {
    testServer = await startRecordingServer();
    const { engine } = testServer;
    engine.abilities = { ...(engine.abilities as RecogniserAbilities), hotWords: true, context };
    await post(formOf(speechFile([1]), [['prompt', ' Müller, Trunkline ']]));
    const [{ hotWords, context: given } = {}] = engine.transcribed;
    expect({ hotWords, context: given }).toEqual(expected);
    await post(
      formOf(speechFile([1]), [
        ['prompt', `${'x'.repeat(50)}${'y'.repeat(2000)}`],
        ['hot_words', 'Anna'],
      ]),
    );
    expect(engine.transcribed.at(-1)).toMatchObject({
      hotWords: ['Anna'],
      ...(context && { context: 'y'.repeat(2000) }),
    });
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
