import { describe, expect, it } from 'vitest';
import { readFluxQuery, readListenQuery } from '../../../../src/clients/deepgram/wire/listen-query.ts';
import { TrunklineError } from '../../../../src/foundation/errors.ts';

const PIPECAT =
  'channels=1&detect_entities=false&diarize=false&dictation=false&encoding=linear16&interim_results=true&language=en&' +
  'model=nova-3-general&multichannel=false&numerals=false&punctuate=true&sample_rate=8000&smart_format=false';
const LIVEKIT =
  'model=nova-3&punctuate=true&smart_format=false&no_delay=true&interim_results=true&encoding=linear16&' +
  'vad_events=true&sample_rate=16000&channels=1&endpointing=25&filler_words=true&profanity_filter=false&' +
  'numerals=false&mip_opt_out=false&language=en-US&keyterm=Trunkline&keyterm=jambonz';

function parse(text: string): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const known = query[name];
    query[name] = known === undefined ? value : [known, value].flat();
  }
  return query;
}

function refusal(query: Record<string, unknown>): TrunklineError {
  try {
    readListenQuery(query);
  } catch (error) {
    if (error instanceof TrunklineError) return error;
  }
  throw new Error('was not refused');
}

describe('the query of /v1/listen', () => {
  it('is read as pipecat writes it', () => {
    expect(readListenQuery(parse(PIPECAT))).toEqual({
      audio: { encoding: 'linear16', rateHz: 8000, channels: 1 },
      multichannel: false,
      interimResults: true,
      endpointing: null,
      utteranceEndMs: null,
      vadEvents: false,
      isPunctuated: true,
      language: 'en',
      hotWords: [],
      callId: null,
      passedOver: ['detect_entities', 'diarize', 'dictation', 'numerals'],
    });
  });

  it('is read as LiveKit writes it', () => {
    expect(readListenQuery(parse(LIVEKIT))).toMatchObject({
      audio: { encoding: 'linear16', rateHz: 16_000, channels: 1 },
      endpointing: 25,
      vadEvents: true,
      language: 'en-US',
      hotWords: ['Trunkline', 'jambonz'],
      passedOver: ['no_delay', 'filler_words', 'profanity_filter', 'numerals', 'mip_opt_out'],
    });
  });

  it('has usual rates for telephone codecs, and none for linear16', () => {
    expect(readListenQuery({ encoding: 'mulaw' }).audio).toEqual({ encoding: 'mulaw', rateHz: 8000, channels: 1 });
    expect(readListenQuery({ encoding: 'ALAW' }).audio?.encoding).toBe('alaw');
    expect(refusal({ encoding: 'linear16' }).message).toBe(
      'sample_rate: got nothing, expected the rate of linear16 in Hz',
    );
  });

  it('has no audio format of its own where none is named', () => {
    expect(readListenQuery({ model: 'nova-3' }).audio).toBeNull();
  });

  it('takes endpointing as ms, off, or as the server has it', () => {
    expect(readListenQuery({ endpointing: 'false' }).endpointing).toBe(false);
    expect(readListenQuery({ endpointing: 'true' }).endpointing).toBeNull();
    expect(readListenQuery({ endpointing: '300' }).endpointing).toBe(300);
    expect(readListenQuery({}).endpointing).toBeNull();
  });

  it('takes booleans as Python and JavaScript write them', () => {
    expect(readListenQuery({ vad_events: 'True', interim_results: '1', smart_format: 'TRUE' })).toMatchObject({
      vadEvents: true,
      interimResults: true,
      isPunctuated: true,
    });
  });

  it('leaves the weights of keywords out, and what is too much', () => {
    expect(readListenQuery({ keywords: ['hibari:2', 'Xylo:-1.5', 'a: b'] }).hotWords).toEqual([
      'hibari',
      'Xylo',
      'a: b',
    ]);
    const many = Array.from({ length: 2000 }, (_, at) => `word${at}`);
    expect(readListenQuery({ keyterm: many }).hotWords.length).toBeLessThan(2000);
  });

  it('leaves multi to the recogniser', () => {
    expect(readListenQuery({ language: 'multi' }).language).toBeNull();
  });

  it('leaves it to the first bytes what comes where they say it', () => {
    expect(readListenQuery({ encoding: 'OGG-OPUS', sample_rate: '48000' }).audio).toBeNull();
    expect(readListenQuery({ encoding: 'opus', channels: '2', multichannel: 'true' })).toMatchObject({
      audio: { encoding: 'opus', channels: 2 },
      multichannel: true,
    });
  });

  it.each([
    [
      { encoding: 'g729' },
      'encoding',
      'encoding: got "g729", expected linear16, linear32, mulaw, alaw, opus, ogg-opus, flac',
    ],
    [{ encoding: 'mulaw', sample_rate: '4000' }, 'sample_rate', 'sample_rate: got "4000", expected 8000 to 48000 Hz'],
    [{ encoding: 'mulaw', channels: '0' }, 'channels', 'channels: got "0", expected 1 to 8'],
    [{ channels: '9' }, 'channels', 'channels: got "9", expected 1 to 8'],
    [{ multichannel: 'yes' }, 'multichannel', 'multichannel: got "yes", expected true or false'],
    [{ endpointing: '-1' }, 'endpointing', 'endpointing: got "-1", expected 0 to 60000 ms'],
    [{ utterance_end_ms: '1e3' }, 'utterance_end_ms', 'utterance_end_ms: got "1e3", expected 100 to 60000 ms'],
    [
      { callback: 'https://example.com/a' },
      'callback',
      'callback: got a string of 21 characters, expected nothing: live results come over the socket',
    ],
  ])('is refused where a value is wrong: %j', (query, param, message) => {
    const error = refusal(query);
    expect({ code: error.code, param: error.param, message: error.message }).toEqual({
      code: 'invalid_request',
      param,
      message,
    });
  });

  it('names for the log only what may be a parameter, and not all of it', () => {
    const strange = { '+49 30 1234567': '', constructor: 'x', [`a${'b'.repeat(60)}`]: '', tag: 'crm', token: 'k' };
    expect(readListenQuery(strange).passedOver).toEqual(['constructor', 'tag']);
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`name${at}`, '']));
    expect(readListenQuery(many).passedOver).toHaveLength(20);
  });
});

describe('the query of /v2/listen', () => {
  it('is read as LiveKit and pipecat write it', () => {
    const query = parse('model=flux-general-en&sample_rate=16000&encoding=linear16&mip_opt_out=false');
    expect(readFluxQuery(query)).toEqual({
      isMultilingual: false,
      audio: { encoding: 'linear16', rateHz: 16_000, channels: 1 },
      eagerThreshold: null,
      threshold: null,
      timeoutMs: 5000,
      language: null,
      hotWords: [],
      passedOver: ['mip_opt_out'],
    });
  });

  it('takes thresholds as shares', () => {
    const query = { eager_eot_threshold: '.4', eot_threshold: '0.8', eot_timeout_ms: '3000', language_hint: 'en' };
    expect(readFluxQuery(query)).toMatchObject({
      eagerThreshold: 0.4,
      threshold: 0.8,
      timeoutMs: 3000,
      language: 'en',
    });
    expect(() => readFluxQuery({ eot_threshold: '1.5' })).toThrow(
      'eot_threshold: got "1.5", expected a number from 0 to 1',
    );
    expect(() => readFluxQuery({ eot_threshold: '.' })).toThrow('eot_threshold');
  });
});
