import { describe, expect, it } from 'vitest';
import { errorHeader, toDeepgramError } from '../../../../src/clients/deepgram/wire/errors.ts';
import { joinerOf, readSpeakBody, readSpeakMessage } from '../../../../src/clients/deepgram/wire/speak-messages.ts';
import { readSpeakQuery } from '../../../../src/clients/deepgram/wire/speak-query.ts';
import { TrunklineError } from '../../../../src/foundation/errors.ts';

describe('the query of /v1/speak', () => {
  it.each([
    [{}, { encoding: 'mp3', container: 'none', rateHz: null }],
    [{ encoding: 'linear16' }, { encoding: 'linear16', container: 'wav', rateHz: 24_000 }],
    [{ encoding: 'mulaw' }, { encoding: 'mulaw', container: 'wav', rateHz: 8000 }],
    [
      { encoding: 'linear16', container: 'none', sample_rate: '8000' },
      { encoding: 'linear16', container: 'none', rateHz: 8000 },
    ],
    [
      { encoding: ['alaw', 'mp3'], container: 'none', sample_rate: '16000' },
      { encoding: 'alaw', container: 'none', rateHz: 16_000 },
    ],
    [{ encoding: 'opus' }, { encoding: 'opus', container: 'ogg', rateHz: null }],
  ])('of a POST with %j means %j', (query, format) => {
    expect(readSpeakQuery(query, 'file').format).toEqual(format);
  });

  it.each([
    [{}, { encoding: 'linear16', container: 'none', rateHz: 24_000 }],
    [{ encoding: 'alaw' }, { encoding: 'alaw', container: 'none', rateHz: 8000 }],
  ])('of a socket with %j means %j', (query, format) => {
    expect(readSpeakQuery(query, 'socket').format).toEqual(format);
  });

  it.each([
    ['file', { encoding: 'g729' }, /^encoding: got "g729"/],
    ['socket', { encoding: 'mp3' }, /^encoding: got "mp3", expected one of linear16, mulaw, alaw$/],
    ['socket', { container: 'wav' }, /^container: got "wav", expected none/],
    ['file', { encoding: 'mp3', container: 'wav' }, /^container/],
    ['file', { encoding: 'mulaw', sample_rate: '24000' }, /^sample_rate: got "24000", expected one of 8000, 16000/],
    ['file', { sample_rate: '1e4' }, /^sample_rate/],
    ['file', { speed: '9' }, /^speed: got "9"/],
    ['file', { callback: 'https://example.com' }, /^callback/],
    ['file', { model: 'x'.repeat(65) }, /^model: got a string of 65 characters/],
  ] as const)('of a %s with %j is refused', (use, query, message) => {
    expect(() => readSpeakQuery(query, use)).toThrow(message);
  });

  it('takes the language from the name of a model', () => {
    expect(readSpeakQuery({ model: 'aura-2-celeste-es' }, 'file')).toMatchObject({ language: 'es' });
    expect(readSpeakQuery({ model: 'hibari:heart' }, 'file')).toMatchObject({ language: null, model: 'hibari:heart' });
  });

  it('names what means nothing here, but not what changes nothing anywhere', () => {
    expect(
      readSpeakQuery({ model: 'a', mip_opt_out: 'true', bit_rate: '48000', sing: '1' }, 'file').passedOver,
    ).toEqual(['sing']);
  });
});

describe('what a client says on the socket', () => {
  it('is a text or a command', () => {
    expect(readSpeakMessage('{"type":"Speak","text":"Hi.","more":1}', 10)).toEqual({ type: 'Speak', text: 'Hi.' });
    for (const type of ['Flush', 'Clear', 'Close'])
      expect(readSpeakMessage(JSON.stringify({ type }), 10)).toEqual({ type });
  });

  it.each([
    ['Hello', /not JSON/],
    ['{"type":"Reset"}', /^type: got "Reset", expected Speak, Flush, Clear or Close$/],
    ['{"type":"Speak"}', /^text: got nothing, expected a string$/],
    ['{"type":"Speak","text":"elevenchars"}', /^text: got 11 characters, expected at most 10/],
  ])('is refused when it is %s', (message, complaint) => {
    expect(() => readSpeakMessage(message, 10)).toThrow(complaint);
  });

  it('is refused where its path has no such command', () => {
    expect(() => readSpeakMessage('{"type":"Clear"}', 10, ['Flush', 'Close'])).toThrow(
      /^type: got "Clear", expected Speak, Flush or Close$/,
    );
  });

  it('is joined to what it said before with a space only between sentences', () => {
    expect(joinerOf('there.', 'And')).toBe(' ');
    expect(joinerOf('there."', '“And')).toBe(' ');
    for (const [before, next] of [
      ['', 'Hello'],
      ['there', 'And'],
      ['3.', '5'],
      ['there. ', 'And'],
      ['example.', 'com'],
    ] as const)
      expect(joinerOf(before, next)).toBe('');
  });
});

describe('the body of a POST', () => {
  it('is JSON, or plain text that says so', () => {
    expect(readSpeakBody('{"text":"Hi."}', 'application/json', 10)).toBe('Hi.');
    expect(readSpeakBody('{"text":"Hi."}', undefined, 10)).toBe('Hi.');
    expect(readSpeakBody('Hi.', 'text/plain; charset=utf-8', 10)).toBe('Hi.');
  });

  it.each([
    ['{"url":"https://example.com/a"}', 'invalid_request'],
    ['{"text":" "}', 'invalid_request'],
    ['{"text":7}', 'message_malformed'],
    ['', 'message_malformed'],
    ['{"text":"elevenchars"}', 'message_too_large'],
  ])('is refused when it is %s', (body, code) => {
    expect(() => readSpeakBody(body, 'application/json', 10)).toThrow(expect.objectContaining({ code }));
  });
});

describe('an error', () => {
  const error = new TrunklineError('invalid_api_key', 'the key is none of API_KEYS');

  it('has the fields and codes of Deepgram', () => {
    expect(toDeepgramError(error, 'r1')).toEqual({
      err_code: 'INVALID_AUTH',
      err_msg: 'the key is none of API_KEYS',
      request_id: 'r1',
    });
    expect(toDeepgramError(new TrunklineError('engine_unavailable', 'x'), 'r1').err_code).toBe('ENGINE_UNAVAILABLE');
  });

  it('fits into a header', () => {
    expect(errorHeader(new TrunklineError('internal', 'a µ\r\nb'.repeat(200)))).toMatch(/^[ -~]{1,300}$/);
  });
});
