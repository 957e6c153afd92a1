import assert from 'node:assert/strict';
import { COMMAND_MAX_CHARS, readCommand, readSocketQuery } from '../../../src/clients/qwen/wire/commands.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** It is sent back to the client, and counted. */
const MESSAGE_MAX_CHARS = 400;
const CODES = ['message_malformed', 'message_too_large', 'invalid_request', 'unsupported_language'];

/** One text message to `WS /ws/transcribe`, and the same bytes as a parameter of its address. */
export const target: FuzzTarget = {
  name: 'transcribe-orders',
  seeds: [
    '{"action":"flush"}',
    '{"action":"reset"}',
    '{"action":"config","language":"en","use_server_vad":false}',
    '{"action":"config","language":"auto","use_server_vad":"yes","sample_rate":16000}',
    '8000',
    '["flush"]',
  ].map((text) => Buffer.from(text)),
  words: [
    '"language":"English"',
    '"language":null',
    '"use_server_vad":1',
    'en-US',
    '"sample_rate":',
    '1e999',
    '__proto__',
    '[[[[',
    '\\u0000',
    '48000',
  ],
  run(input) {
    const text = Buffer.from(input).toString();
    const command = unlessRefused(() => readCommand(text, 16_000, ['en']));
    assert(command === null || text.length <= COMMAND_MAX_CHARS);
    if (command?.action === 'config') {
      assert(command.language === null || /^\s*(?:auto|english|en(?:[-_][a-z0-9]+)*)?\s*$/i.test(command.language));
      assert(command.useServerVad === null || typeof command.useServerVad === 'boolean');
    }
    const query = unlessRefused(() => readSocketQuery({ sample_rate: text, use_server_vad: text }));
    assert(query === null || (Number.isInteger(query.rateHz) && query.rateHz >= 8000 && query.rateHz <= 48_000));
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
