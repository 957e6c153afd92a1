import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI, { InternalServerError, RateLimitError, toFile } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { readSubtitles } from '../../helpers/subtitles.ts';
import { formOf, type RecordingServer, speechFile, startRecordingServer } from '../recording-server.ts';

/** A chat endpoint whose model answers as the test says. */
class ChatServer {
  readonly asked: string[][] = [];
  readonly bodies: string[] = [];
  authorization: string | undefined;
  reply: (lines: readonly string[], attempt: number) => string = (lines) =>
    JSON.stringify(lines.map((line) => line.toUpperCase()));
  status = 200;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        this.bodies.push(body);
        this.authorization = request.headers.authorization;
        const lines = JSON.parse(
          (JSON.parse(body) as { messages: { content: string }[] }).messages[1]?.content ?? '[]',
        ) as string[];
        this.asked.push(lines);
        response.writeHead(this.status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ choices: [{ message: { content: this.reply(lines, this.asked.length) } }] }));
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

let testServer: RecordingServer;
let chat: ChatServer;

async function open(environment: Readonly<Record<string, string>> = {}): Promise<void> {
  chat = new ChatServer();
  const translator = { LLM_BASE_URL: await chat.listen(), TRANSLATE_MODEL: 'm', LLM_API_KEY: 'k' };
  testServer = await startRecordingServer({ ...translator, ...environment });
}

afterEach(async () => {
  chat.close();
  await testServer.close();
});

const post = (path: string, ...fields: [string, string][]) =>
  fetch(`${testServer.url}${path}`, { method: 'POST', body: formOf(speechFile([1, 2], [3]), fields) });

const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

describe('a translation', () => {
  it('is asked of the endpoint with its model and key, and keeps the times', async () => {
    await open();
    const response = await post(
      '/v1/audio/transcriptions',
      ['target_language', 'de'],
      ['response_format', 'verbose_json'],
    );
    const original = await post('/v1/audio/transcriptions', ['response_format', 'verbose_json']);
    const { segments } = (await original.json()) as { segments: { start: number; end: number; text: string }[] };
    expect(await response.json()).toMatchObject({
      task: 'translate',
      language: 'german',
      text: 'W1 W2. W3.',
      segments: segments.map(({ start, end, text }) => ({ start, end, text: text.toUpperCase() })),
    });
    expect([chat.authorization, JSON.parse(chat.bodies[0] ?? '{}')]).toMatchObject([
      'Bearer k',
      { model: 'm', messages: [{ content: expect.stringContaining('german') }, {}] },
    ]);
  });

  it.each(['srt', 'vtt'])('of %s sends texts alone: numbers and times stay here', async (format) => {
    await open();
    const translated = readSubtitles(
      await (await post('/v1/audio/translations', ['language', 'fr'], ['response_format', format])).text(),
    );
    const original = readSubtitles(await (await post('/v1/audio/transcriptions', ['response_format', format])).text());
    expect(translated.map(({ from, to }) => [from, to])).toEqual(original.map(({ from, to }) => [from, to]));
    expect(translated.map(({ text }) => text)).toEqual(['W1 W2.', 'W3.']);
    expect(chat.asked).toEqual([['W1 w2.', 'W3.']]);
    expect(chat.bodies[0]).not.toMatch(/-->|00:0/);
  });

  it('keeps to the lines of subtitles where it is longer than what was said, and leaves out what it has no words for', async () => {
    await open();
    chat.reply = (lines) =>
      JSON.stringify(lines.map((_, index) => (index === 0 ? 'ein Wort nach dem andern. '.repeat(6) : '')));
    const fields: [string, string][] = [
      ['language', 'de'],
      ['response_format', 'srt'],
      ['channels', 'split'],
      ['max_line_chars', '30'],
    ];
    const cues = readSubtitles(await (await post('/v1/audio/translations', ...fields)).text());
    const lines = cues.map(({ text }) => text.split('\n'));
    expect(cues.length).toBeGreaterThan(1);
    expect(lines.every((each) => each.length <= 2)).toBe(true);
    expect(Math.max(...lines.flat().map((line) => line.length))).toBeLessThanOrEqual(30);
    const { text } = (await (await post('/v1/audio/translations', ['language', 'de'])).json()) as { text: string };
    expect(text).toBe('ein Wort nach dem andern. '.repeat(6).trim());
  });

  it('is asked for again when lines are missing', async () => {
    await open();
    chat.reply = (lines, attempt) =>
      attempt < 3 ? JSON.stringify(lines.slice(1)) : `Here you are:\n\`\`\`json\n${JSON.stringify(lines)}\n\`\`\``;
    const response = await post('/v1/audio/translations', ['language', 'fr']);
    expect([await response.json(), chat.asked.length]).toMatchObject([{ text: 'W1 w2. W3.' }, 3]);
  });

  it.each<[string, () => unknown]>([
    ['the number of lines stays wrong', () => Object.assign(chat, { reply: () => '["one"]' })],
    ['the answer is no list', () => Object.assign(chat, { reply: () => 'I cannot do that' })],
    ['the endpoint fails', () => Object.assign(chat, { status: 500 })],
  ])('fails clearly when %s', async (_what, breakIt) => {
    await open();
    breakIt();
    const response = await post('/v1/audio/translations', ['language', 'fr'], ['response_format', 'srt']);
    expect([response.status, await codeOf(response), chat.asked.length]).toEqual([502, 'translation_failed', 3]);
  });

  it('comes as a stream when that is asked for', async () => {
    await open();
    const response = await post('/v1/audio/transcriptions', ['target_language', 'de'], ['stream', 'true']);
    const events = (await response.text())
      .trim()
      .split('\n\n')
      .map((block) => JSON.parse(block.slice('data: '.length)));
    expect(
      events
        .slice(0, -1)
        .map(({ delta }) => delta)
        .join(''),
    ).toBe('W1 W2. W3.');
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: 'W1 W2. W3.' });
    const qwen = await (await post('/v1/audio/transcriptions/stream', ['target_language', 'de'])).text();
    expect(qwen).toContain('data: {"text":"W1 W2.","language":"German","is_final":true,"chunk_index":0}');
  });

  it('that fails in a stream is an event, and nothing more is heard', async () => {
    await open();
    chat.status = 500;
    const response = await post('/v1/audio/transcriptions', ['target_language', 'de'], ['stream', 'true']);
    expect(await response.text()).toMatch(
      /^data: \{"error":\{[^}]*"code":"translation_failed","request_id":"[\w-]+"\}[^\n]*\}\n\n$/,
    );
  });

  it('is what the client of OpenAI expects, as are failures and a full queue', async () => {
    await open({ BATCH_QUEUE_MAX: '1' });
    const { audio } = new OpenAI({ baseURL: `${testServer.url}/v1`, apiKey: 'any', maxRetries: 0 });
    const wanted = { file: await toFile(speechFile([1, 2], [3]), 'a.wav'), model: 'whisper-1', target_language: 'de' };
    expect(await audio.translations.create(wanted)).toMatchObject({ text: 'W1 W2. W3.' });
    const verbose = await audio.translations.create({ ...wanted, response_format: 'verbose_json' });
    expect(verbose).toMatchObject({
      language: 'german',
      segments: [
        { id: 0, text: ' W1 W2.' },
        { id: 1, text: ' W3.' },
      ],
    });
    for (const response_format of ['srt', 'vtt'] as const) {
      const subtitles: unknown = await audio.translations.create({ ...wanted, response_format });
      expect(readSubtitles(String(subtitles)).map(({ text }) => text)).toEqual(['W1 W2.', 'W3.']);
    }
    chat.status = 500;
    const failure: unknown = await audio.translations.create(wanted).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InternalServerError);
    expect(failure).toMatchObject({ status: 502, code: 'translation_failed' });
    const place = await testServer.recordings.admit();
    const refusal: unknown = await audio.translations.create(wanted).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(RateLimitError);
    expect((refusal as RateLimitError).headers?.get('retry-after')).toBe('2');
    await place.release();
  });

  it('into what was spoken asks nobody', async () => {
    await open();
    expect([await (await post('/v1/audio/translations')).json(), chat.asked]).toMatchObject([
      { text: 'W1 w2. W3.' },
      [],
    ]);
  });

  it('that fails in a batch leaves what was said to be read', async () => {
    await open();
    chat.status = 500;
    const { id } = (await (await post('/v1/batches', ['targetLanguage', 'de'])).json()) as { id: string };
    await (await fetch(`${testServer.url}/v1/batches/${id}/events`)).text();
    const result = (query: string) =>
      fetch(`${testServer.url}/v1/batches/${id}/files/0?responseFormat=verbose_json${query}`);
    expect(await codeOf(await result(''))).toBe('result_not_ready');
    expect(await (await result('&asSpoken=true')).json()).toMatchObject({
      task: 'transcribe',
      language: 'english',
      text: 'W1 w2. W3.',
    });
  });

  it('is refused where nothing can translate', async () => {
    chat = new ChatServer();
    testServer = await startRecordingServer();
    const response = await post('/v1/audio/translations');
    expect([response.status, await codeOf(response)]).toEqual([400, 'unsupported_model']);
    const stream = await post('/v1/audio/transcriptions', ['target_language', 'de'], ['stream', 'true']);
    expect([stream.status, await codeOf(stream)]).toEqual([400, 'unsupported_model']);
  });
});
