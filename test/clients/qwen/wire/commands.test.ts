import { describe, expect, it } from 'vitest';
import { readCommand, readSocketQuery } from '../../../../src/clients/qwen/wire/commands.ts';

const refusal = (code: string, param: string | null, message: string) =>
  expect.objectContaining({ code, param, message });

describe('the address of a socket', () => {
  it.each([
    [{}, { useServerVad: true, rateHz: 16_000 }],
    [
      { use_server_vad: '', sample_rate: '' },
      { useServerVad: true, rateHz: 16_000 },
    ],
    [{ use_server_vad: '1' }, { useServerVad: true, rateHz: 16_000 }],
    [{ use_server_vad: 'YES' }, { useServerVad: true, rateHz: 16_000 }],
    [{ use_server_vad: 'False' }, { useServerVad: false, rateHz: 16_000 }],
    [{ use_server_vad: '0' }, { useServerVad: false, rateHz: 16_000 }],
    [
      { use_server_vad: 'no', sample_rate: '8000' },
      { useServerVad: false, rateHz: 8000 },
    ],
    [{ sample_rate: '48000' }, { useServerVad: true, rateHz: 48_000 }],
  ])('says %j', (query, meant) => {
    expect(readSocketQuery(query)).toEqual(meant);
  });

  it.each(['7999', '48001', '16000.5', '-8000', '8e3', '0x4000', ' 8000', 'fast', '9'.repeat(5000)])(
    'is refused with a rate of %s',
    (rate) => {
      expect(() => readSocketQuery({ sample_rate: rate })).toThrow(
        /^sample_rate: got ".{1,80}("|…), expected a whole number of Hz from 8000 to 48000$/,
      );
    },
  );

  it('is refused where nobody can tell whether it says yes', () => {
    const message = 'use_server_vad: got "maybe", expected true, 1 or yes, or false, 0 or no';
    expect(() => readSocketQuery({ use_server_vad: 'maybe' })).toThrow(
      refusal('invalid_request', 'use_server_vad', message),
    );
  });
});

describe('an order', () => {
  const config = { action: 'config', language: null, useServerVad: null, hotWords: null };

  it.each([
    ['{"action":"flush"}', { action: 'flush' }],
    ['{"action":"reset","more":1}', { action: 'reset' }],
    ['{"action":"config"}', config],
    ['{"action":"config","language":null,"use_server_vad":null}', config],
    ['{"action":"config","language":"","use_server_vad":""}', config],
    [
      '{"action":"config","language":"English","use_server_vad":0}',
      { ...config, language: 'English', useServerVad: false },
    ],
    ['{"action":"config","use_server_vad":"yes","sample_rate":8000}', { ...config, useServerVad: true }],
  ])('%s', (text, order) => {
    expect(readCommand(text, 8000, ['en'])).toEqual(order);
  });

  it.each([
    [
      'flush',
      'message_malformed',
      null,
      'got a text message that is no JSON object, expected for example {"action":"flush"}',
    ],
    ['{"action":"stop"}', 'invalid_request', 'action', 'action: got "stop", expected "flush", "reset" or "config"'],
    ['{}', 'invalid_request', 'action', 'action: got nothing, expected "flush", "reset" or "config"'],
    ['{"action":"config","language":7}', 'invalid_request', 'language', 'language: got 7, expected text'],
    ['{"action":"config","hot_words":7}', 'invalid_request', 'hot_words', 'hot_words: got 7, expected a list of texts'],
    [
      '{"action":"config","use_server_vad":{}}',
      'invalid_request',
      'use_server_vad',
      'use_server_vad: got {}, expected true, 1 or yes, or false, 0 or no',
    ],
    [
      '{"action":"config","sample_rate":16000}',
      'invalid_request',
      'sample_rate',
      'sample_rate: got 16000, expected 8000, the rate of this socket; open another one for another rate: ' +
        '/ws/transcribe?sample_rate=…',
    ],
  ])('is refused: %s', (text, code, param, message) => {
    expect(() => readCommand(text, 8000, ['en'])).toThrow(refusal(code, param, message));
  });

  it.each([
    ['"hot_words":["Müller"," ISDN "]', ['Müller', 'ISDN']],
    ['"hotWords":"Müller, ISDN"', ['Müller', 'ISDN']],
    ['"hot_words":[]', []],
  ])('has the hot words of %s', (field, hotWords) => {
    expect(readCommand(`{"action":"config",${field}}`, 8000, ['en'])).toMatchObject({ hotWords });
  });

  it('is refused in a language that is not understood, with those that are', () => {
    expect(() => readCommand('{"action":"config","language":"Chinese"}', 8000, ['en'])).toThrow(
      expect.objectContaining({
        code: 'unsupported_language',
        message: expect.stringContaining('"Chinese", expected "en"'),
      }),
    );
  });
});
