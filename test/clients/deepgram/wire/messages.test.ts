import { describe, expect, it } from 'vitest';
import { bareWord, configuredOf, metadataOf, resultsOf } from '../../../../src/clients/deepgram/wire/messages.ts';
import { modelUuid } from '../../../../src/foundation/model-uuid.ts';

const FACTS = {
  requestId: 'id-1',
  model: { name: 'moonshine-tiny', version: '1', arch: 'moonshine' },
  channels: 2,
  isPunctuated: true,
};
const SAID = {
  text: 'Hello, world.',
  final: true,
  startMs: 1000,
  endMs: 2250,
  words: [
    { text: 'Hello,', startMs: 1000, endMs: 1500, confidence: 0.98765 },
    { text: 'world.', startMs: 1500, endMs: 2250 },
  ],
  confidence: 0.7,
  language: 'en',
};
const MARKS = { channel: 1, speechFinal: true, fromFinalize: false };

describe('messages to Deepgram clients', () => {
  it('have all that Results have', () => {
    expect(resultsOf(SAID, MARKS, FACTS)).toEqual({
      type: 'Results',
      channel_index: [1, 2],
      duration: 1.25,
      start: 1,
      is_final: true,
      speech_final: true,
      channel: {
        alternatives: [
          {
            transcript: 'Hello, world.',
            confidence: 0.7,
            languages: ['en'],
            words: [
              { word: 'hello', start: 1, end: 1.5, confidence: 0.9877, punctuated_word: 'Hello,' },
              { word: 'world', start: 1.5, end: 2.25, confidence: 0.7, punctuated_word: 'world.' },
            ],
          },
        ],
      },
      metadata: {
        request_id: 'id-1',
        model_info: { name: 'moonshine-tiny', version: '1', arch: 'moonshine' },
        model_uuid: modelUuid('moonshine-tiny'),
      },
      from_finalize: false,
    });
  });

  it('write bare words where no punctuation is wanted', () => {
    const { channel } = resultsOf(SAID, MARKS, { ...FACTS, isPunctuated: false });
    expect(channel.alternatives[0].transcript).toBe('hello world');
    expect(channel.alternatives[0].words[0]).toEqual({ word: 'hello', start: 1, end: 1.5, confidence: 0.9877 });
  });

  it.each([
    ['Hello,', 'hello'],
    ["Don't!", "don't"],
    ['“Yes”', 'yes'],
    ['50%', '50%'],
    ['$5.20.', '$5.20'],
    ['10:30', '10:30'],
    ['—', '—'],
    ['', ''],
  ])('write %j bare as %j', (text, bare) => {
    expect(bareWord(text)).toBe(bare);
  });

  it('end with what came', () => {
    const uuid = modelUuid('moonshine-tiny');
    expect(metadataOf({ sha256: 'ab', created: '2026-01-01T00:00:00.000Z', durationMs: 1234.4 }, FACTS)).toEqual({
      type: 'Metadata',
      transaction_key: 'deprecated',
      request_id: 'id-1',
      sha256: 'ab',
      created: '2026-01-01T00:00:00.000Z',
      duration: 1.234,
      channels: 2,
      models: [uuid],
      model_info: { [uuid]: FACTS.model },
    });
  });

  it('say what a Configure has changed, or why it has not', () => {
    expect(configuredOf({ hotWords: ['a'], refused: [] }, FACTS)).toEqual({
      type: 'ConfigureSuccess',
      request_id: 'id-1',
      keyterms: ['a'],
    });
    expect(configuredOf({ hotWords: null, refused: ['punctuate'] }, FACTS)).toMatchObject({
      type: 'ConfigureFailure',
      request_id: 'id-1',
      code: 'UNSUPPORTED_FEATURE',
    });
  });
});
