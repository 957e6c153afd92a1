import { afterEach, describe, expect, it } from 'vitest';
import { concat, silence, spoken } from '../../fakes/engine.ts';
import { readSubtitles } from '../../helpers/subtitles.ts';
import { formOf, type RecordingServer, speechFile, startRecordingServer, wavFile } from '../recording-server.ts';

let testServer: RecordingServer;
afterEach(() => testServer.close());

const post = (form: FormData, path = '/v1/audio/transcriptions', headers: Record<string, string> = {}) =>
  fetch(`${testServer.url}${path}`, { method: 'POST', body: form, headers });

const eventsOf = (body: string) =>
  body.split('\n\n').flatMap((block) => (block === '' ? [] : [JSON.parse(block.slice('data: '.length))]));

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
