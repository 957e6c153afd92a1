import assert from 'node:assert/strict';
import { errorHeader } from '../../../src/clients/deepgram/wire/errors.ts';
import { joinerOf, readSpeakBody, readSpeakMessage } from '../../../src/clients/deepgram/wire/speak-messages.ts';
import { readSpeakQuery } from '../../../src/clients/deepgram/wire/speak-query.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { FuzzTarget } from '../fuzz.ts';

const TEXT_MAX_CHARS = 100;
/** It is sent back to the client. */
const MESSAGE_MAX_CHARS = 400;
const CODES = ['message_malformed', 'message_too_large', 'invalid_request'];

/** One text message to `WS /v1/speak`, the body of a POST, and the same bytes as each parameter of the address. */
export const target: FuzzTarget = {
  name: 'deepgram-speak',
  seeds: [
    '{"type":"Speak","text":"Hello there."}',
    '{"type":"Flush"}',
    '{"type":"Clear"}',
    '{"type":"Close"}',
    'linear16',
    '24000',
    'aura-2-celeste-es',
  ].map((text) => Buffer.from(text)),
  words: ['"text":null', '"type":', 'mulaw', 'wav', '0.7', '__proto__', '[[[[', '\\u0000', '\\ud800', 'constructor'],
  run(input) {
    const text = Buffer.from(input).toString();
    const message = unlessRefused(() => readSpeakMessage(text, TEXT_MAX_CHARS));
    if (message?.type === 'Speak') {
      assert(message.text.length <= TEXT_MAX_CHARS);
      assert(joinerOf('There.', message.text).length <= 1);
    }
    const body = unlessRefused(() => readSpeakBody(text, undefined, TEXT_MAX_CHARS));
    assert(body === null || (body.trim() !== '' && body.length <= TEXT_MAX_CHARS));
    const names = ['model', 'encoding', 'container', 'sample_rate', 'speed'];
    for (const query of [...names.map((name) => ({ [name]: text })), { [text]: text }])
      for (const use of ['file', 'socket'] as const) {
        const read = unlessRefused(() => readSpeakQuery(query, use));
        assert(read === null || (read.speed > 0 && (read.format.rateHz ?? 8000) >= 8000));
      }
  },
};

function unlessRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    assert(error instanceof TrunklineError && CODES.includes(error.code));
    assert(error.message.length <= MESSAGE_MAX_CHARS);
    assert.match(errorHeader(error), /^[ -~]*$/);
    return null;
  }
}
