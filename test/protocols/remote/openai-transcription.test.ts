import { describe, expect, it } from 'vitest';
import { readWav } from '../../../src/audio/wav.ts';
import { readTranscription, transcriptionForm } from '../../../src/protocols/remote/openai-transcription.ts';
import { readRemoteText } from '../../../src/protocols/remote/remote-text.ts';
import { readRetryAfter } from '../../../src/protocols/remote/retry-after.ts';

const SECOND = 16_000;

/** The parts of a form by name, read by Node's own reader. */
async function partsOf({ contentType, body }: ReturnType<typeof transcriptionForm>): Promise<Map<string, unknown>> {
  const form = await new Response(Buffer.from(body), { headers: { 'content-type': contentType } }).formData();
  return new Map(form.entries());
}

describe('a transcription form', () => {
  it('has the speech as a WAV file, and asks for the likeliest text as JSON', async () => {
    const samples = Int16Array.from({ length: 1601 }, (_, n) => n * 17 - 9000);
    const parts = await partsOf(transcriptionForm(samples.subarray(1), { model: 'qwen' }, 'ab12'));
    const file = parts.get('file') as File;
    expect(file.name).toBe('speech.wav');
    const { rateHz, channels } = readWav(new Uint8Array(await file.arrayBuffer()));
    expect([rateHz, channels]).toEqual([SECOND, [samples.slice(1)]]);
    parts.delete('file');
    expect(Object.fromEntries(parts)).toEqual({ model: 'qwen', response_format: 'json', temperature: '0' });
  });

  it('names language and prompt where they are known, and no model where there is none', async () => {
    const fields = { model: '', language: 'pt-BR', prompt: 'Trunkline, "Zoë"\r\nnext' };
    const parts = await partsOf(transcriptionForm(new Int16Array(2), fields, 'ab12'));
    parts.delete('file');
    expect(Object.fromEntries(parts)).toEqual({
      language: 'pt',
      prompt: 'Trunkline, "Zoë"\r\nnext',
      response_format: 'json',
      temperature: '0',
    });
  });
});

describe('the answer to it', () => {
  it('is its text', () => {
    expect(readTranscription('{"text":" Hello there.\\n","usage":{"type":"duration","seconds":1}}', SECOND)).toBe(
      'Hello there.',
    );
    expect(readTranscription('{"text":""}', SECOND)).toBe('');
  });

  it.each(['', 'Hello.', '{"text":"half an ans', '{"text":3}', '{}', 'null', '["text"]', '{"error":"no","text":"x"}'])(
    'is none where it is %j',
    (answer) => {
      expect(readTranscription(answer, SECOND)).toBeNull();
    },
  );

  it('is none where nobody could have said so much', () => {
    expect(readTranscription(JSON.stringify({ text: 'la '.repeat(80) }), SECOND)).toHaveLength(239);
    expect(readTranscription(JSON.stringify({ text: 'la '.repeat(90) }), SECOND)).toBeNull();
  });
});

describe('a text from elsewhere', () => {
  it.each([
    ['language English<asr_text>Hello.', 'Hello.'],
    ['language None<asr_text>', ''],
    ['<asr_text>Hello.', 'Hello.'],
    [' <|en|><|transcribe|> Hello.<|endoftext|>', 'Hello.'],
    ['He said: language is hard.', 'He said: language is hard.'],
    ['5 < 6 and <b>', '5 < 6 and <b>'],
    ['a\u0000b\nc\td\u202ee\ud800f', 'a b c d e f'],
    ['می‌خواهم', 'می‌خواهم'],
  ])('%j is %j', (text, clean) => {
    expect(readRemoteText(text, SECOND)).toBe(clean);
  });
});

describe('Retry-After', () => {
  it.each([
    ['3', undefined, 3000],
    ['0', undefined, 0],
    ['Wed, 21 Oct 2026 07:28:30 GMT', 'Wed, 21 Oct 2026 07:28:00 GMT', 30_000],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:28:30 GMT', null],
    ['Wed, 21 Oct 2026 07:28:30 GMT', undefined, null],
    ['soon', 'Wed, 21 Oct 2026 07:28:30 GMT', null],
    ['-1', undefined, null],
    ['1.5', undefined, null],
    [undefined, undefined, null],
  ])('%j beside the date %j is %j ms', (retryAfter, date, ms) => {
    expect(readRetryAfter(retryAfter, date)).toBe(ms);
  });
});
