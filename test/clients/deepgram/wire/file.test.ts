import { describe, expect, it } from 'vitest';
import { type FileWord, fileAnswer } from '../../../../src/clients/deepgram/wire/file-answer.ts';
import { readFileQuery, readFileUrl } from '../../../../src/clients/deepgram/wire/file-query.ts';

describe('the query of POST /v1/listen', () => {
  it('asks for little unless told otherwise', () => {
    expect(readFileQuery({})).toEqual({
      samples: null,
      multichannel: false,
      diarize: false,
      utterances: false,
      utteranceSplitMs: 800,
      paragraphs: false,
      isPunctuated: false,
      detectLanguage: false,
      language: null,
      hotWords: [],
      callback: null,
      passedOver: [],
    });
  });

  it.each([
    [{ smart_format: 'true' }, { isPunctuated: true, paragraphs: true }],
    [{ punctuate: 'True' }, { isPunctuated: true, paragraphs: false }],
    [{ language: 'multi' }, { language: null }],
    [{ detect_language: ['en', 'de'] }, { detectLanguage: true }],
    [{ utt_split: '1.5' }, { utteranceSplitMs: 1500 }],
    [{ keyterm: ['Kovac', 'Trunkline'], keywords: 'snow:2' }, { hotWords: ['Kovac', 'Trunkline', 'snow'] }],
    [{ encoding: 'mp3', sample_rate: '44100' }, { samples: null }],
    [
      { encoding: 'mulaw', channels: '2' },
      { samples: { name: 'mulaw', rateHz: 8000, channels: 2, bytesPerSample: 1 } },
    ],
    [
      { encoding: 'linear16', sample_rate: '16000' },
      { samples: { name: 'pcm16', rateHz: 16_000, channels: 1, bytesPerSample: 2 } },
    ],
    [{ callback: 'https://example.com/a' }, { callback: 'https://example.com/a' }],
    [{ mimetype: 'audio/wav', tier: 'base' }, { passedOver: ['tier'] }],
  ])('with %j means %j', (query, options) => {
    expect(readFileQuery(query)).toMatchObject(options);
  });

  it.each([
    [{ multichannel: 'perhaps' }, /^multichannel: got "perhaps", expected true or false$/],
    [{ encoding: 'linear16' }, /^sample_rate: got nothing/],
    [{ utt_split: 'long' }, /^utt_split/],
    [{ callback: 'file:///etc/passwd' }, /^callback: got a string of 18 characters/],
    [{ callback: 'https://example.com/a', callback_method: 'put' }, /^callback_method: got "put", expected post$/],
  ])('with %j is refused', (query, message) => {
    expect(() => readFileQuery(query)).toThrow(message);
  });
});

it('finds the URL in a body of JSON', () => {
  expect(readFileUrl('{"url":"https://example.com/a.wav"}')).toBe('https://example.com/a.wav');
  for (const body of ['', '[]', '{}', '{"url":7}', '{"url":"ftp://example.com"}'])
    expect(() => readFileUrl(body)).toThrow(/expected/);
});

const word = (text: string, startMs: number, channel = 0): FileWord => ({
  text,
  startMs,
  endMs: startMs + 200,
  spaced: true,
  channel,
});
const FACTS = {
  requestId: 'r1',
  model: { name: 'moonshine', version: '1', arch: 'moonshine' },
  sha256: 'ab',
  created: '2026-01-01T00:00:00.000Z',
  durationMs: 4000,
  channels: 2,
  language: 'en-US',
};
const PLAIN = readFileQuery({});
const SAID = [word('Hello,', 0), word('there.', 300), word('Hi!', 400, 1), word('Bye.', 3000)];

interface Answer {
  readonly metadata: Record<string, unknown>;
  readonly results: {
    readonly channels: { alternatives: Record<string, unknown>[]; detected_language?: string }[];
    readonly utterances?: Record<string, unknown>[];
  };
}

function answer(options: Partial<typeof PLAIN>, words: readonly FileWord[] = SAID): Answer {
  return fileAnswer(words, FACTS, { ...PLAIN, ...options }) as Answer;
}

describe('the answer', () => {
  it('says what was transcribed, and with what', () => {
    const { metadata } = answer({ multichannel: true });
    const [uuid = ''] = metadata['models'] as string[];
    expect(metadata).toEqual({
      transaction_key: 'deprecated',
      request_id: 'r1',
      sha256: 'ab',
      created: '2026-01-01T00:00:00.000Z',
      duration: 4,
      channels: 2,
      models: [uuid],
      model_info: { [uuid]: FACTS.model },
    });
  });

  it('is one text without capitals unless more is asked for', () => {
    const { results } = answer({});
    expect(results.channels).toHaveLength(1);
    expect(results.channels[0]?.alternatives[0]).toEqual({
      transcript: 'hello there hi bye',
      confidence: 0.9,
      words: [
        { word: 'hello', start: 0, end: 0.2, confidence: 0.9 },
        { word: 'there', start: 0.3, end: 0.5, confidence: 0.9 },
        { word: 'hi', start: 0.4, end: 0.6, confidence: 0.9 },
        { word: 'bye', start: 3, end: 3.2, confidence: 0.9 },
      ],
    });
  });

  it('has each channel by itself, also a silent one', () => {
    const { results } = answer({ multichannel: true, isPunctuated: true }, SAID.slice(0, 2));
    expect(results.channels.map(({ alternatives: [first] }) => [first?.['transcript'], first?.['confidence']])).toEqual(
      [
        ['Hello, there.', 0.9],
        ['', 0],
      ],
    );
    expect(results.channels[0]?.alternatives[0]?.['words']).toContainEqual(
      expect.objectContaining({ word: 'hello', punctuated_word: 'Hello,' }),
    );
  });

  it('names the channel as the speaker', () => {
    const words = answer({ diarize: true }).results.channels[0]?.alternatives[0]?.['words'] as { speaker: number }[];
    expect(words.map(({ speaker }) => speaker)).toEqual([0, 0, 1, 0]);
  });

  it('cuts utterances at pauses, each speaker by itself', () => {
    const { results } = answer({ utterances: true, multichannel: true, diarize: true });
    expect(
      results.utterances?.map(({ start, end, channel, speaker, transcript }) => [
        start,
        end,
        channel,
        speaker,
        transcript,
      ]),
    ).toEqual([
      [0, 0.5, 0, 0, 'hello there'],
      [0.4, 0.6, 1, 1, 'hi'],
      [3, 3.2, 0, 0, 'bye'],
    ]);
    expect(new Set(results.utterances?.map(({ id }) => id)).size).toBe(3);
    expect(answer({}).results).not.toHaveProperty('utterances');
  });

  it('has paragraphs of sentences', () => {
    const { results } = answer(
      { paragraphs: true, isPunctuated: true },
      SAID.filter(({ channel }) => channel === 0),
    );
    expect(results.channels[0]?.alternatives[0]?.['paragraphs']).toEqual({
      transcript: '\nHello, there.\n\nBye.',
      paragraphs: [
        { sentences: [{ text: 'Hello, there.', start: 0, end: 0.5 }], num_words: 2, start: 0, end: 0.5 },
        { sentences: [{ text: 'Bye.', start: 3, end: 3.2 }], num_words: 1, start: 3, end: 3.2 },
      ],
    });
  });

  it('ends a paragraph after five sentences, and where the speaker changes', () => {
    const many = Array.from({ length: 7 }, (_, at) => word(`S${at}.`, at * 300, at === 6 ? 1 : 0));
    const { results } = answer({ paragraphs: true, isPunctuated: true, diarize: true }, many);
    const found = results.channels[0]?.alternatives[0]?.['paragraphs'];
    const { paragraphs, transcript } = (found ?? { transcript: '', paragraphs: [] }) as {
      transcript: string;
      paragraphs: { num_words: number; speaker: number }[];
    };
    expect(paragraphs.map(({ num_words, speaker }) => [num_words, speaker])).toEqual([
      [5, 0],
      [1, 0],
      [1, 1],
    ]);
    expect(transcript).toContain('\n\nSpeaker 1: S6.');
  });

  it('says which language was found out', () => {
    expect(answer({ detectLanguage: true }).results.channels[0]?.detected_language).toBe('en-US');
  });

  it('is whole where nothing was said', () => {
    const { results } = answer({ utterances: true, paragraphs: true }, []);
    expect(results).toEqual({
      channels: [
        {
          alternatives: [{ transcript: '', confidence: 0, words: [], paragraphs: { transcript: '', paragraphs: [] } }],
        },
      ],
      utterances: [],
    });
  });
});
