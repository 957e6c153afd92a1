import assert from 'node:assert/strict';
import { readFileQuery, readFileUrl } from '../../../src/clients/deepgram/wire/file-query.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** It is sent back to the client. */
const MESSAGE_MAX_CHARS = 400;
const CODES = ['message_malformed', 'invalid_request'];
const NAMES = ['encoding', 'sample_rate', 'channels', 'utt_split', 'multichannel', 'detect_language', 'keyterm'];

/** The body of a `POST /v1/listen` as JSON, and the same bytes as each parameter of its address. */
export const target: FuzzTarget = {
  name: 'deepgram-file',
  seeds: ['{"url":"https://example.com/a.wav"}', 'linear16', '16000', '0.8', 'true', 'https://example.com'].map(
    (text) => Buffer.from(text),
  ),
  words: ['"url":', 'mulaw', '__proto__', 'constructor', '[[[[', '\\u0000', 'http://', '1e999'],
  run(input) {
    const text = Buffer.from(input).toString();
    const url = unlessRefused(() => readFileUrl(text));
    assert(url === null || URL.canParse(url));
    for (const query of [...NAMES, 'callback', 'callback_method', text].map((name) => ({ [name]: text }))) {
      const read = unlessRefused(() => readFileQuery({ sample_rate: '8000', ...query }));
      assert(read === null || (read.samples?.rateHz ?? 8000) >= 8000);
      assert(read === null || read.utteranceSplitMs >= 0);
    }
  },
};

function unlessRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    assert(error instanceof TrunklineError && CODES.includes(error.code));
    assert(error.message.length <= MESSAGE_MAX_CHARS);
    return null;
  }
}
