import assert from 'node:assert/strict';
import {
  readRecogniserMessage,
  readSpeechBody,
  readSpeechMessage,
} from '../../../src/clients/jambonz/wire/messages.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { FuzzTarget } from '../fuzz.ts';

const TEXT_MAX_CHARS = 100;
/** It is sent back to the client. */
const MESSAGE_MAX_CHARS = 400;
const CODES = ['message_malformed', 'message_too_large', 'codec_unsupported'];

/** One text message of jambonz on each of its sockets, and the body of its POST. */
export const target: FuzzTarget = {
  name: 'jambonz',
  seeds: [
    '{"type":"start","language":"en-US","encoding":"LINEAR16","interimResults":true,"sampleRateHz":8000,"options":{}}',
    '{"type":"start","sampleRateHz":"16000","options":{"hints":"[{\\"phrase\\":\\"Kovac\\",\\"boost\\":5}]"}}',
    '{"type":"stop"}',
    '{"type":"stream","text":"Hello there."}',
    '{"type":"ssml","text":"<speak>Tom &amp; Ann</speak>","voice":"rms","language":"en-US"}',
  ].map((text) => Buffer.from(text)),
  words: ['"hints":', 'null', '<<<<', '&amp;', '__proto__', '[[[[', '\\u0000', '1e999', '"flush"'],
  run(input) {
    const text = Buffer.from(input).toString();
    const start = unlessRefused(() => readRecogniserMessage(text));
    if (start?.type === 'start') assert(start.rateHz >= 8000 && start.rateHz <= 48_000);
    const body = unlessRefused(() => readSpeechBody(text, TEXT_MAX_CHARS));
    assert(body === null || body.text.length <= TEXT_MAX_CHARS);
    const message = unlessRefused(() => readSpeechMessage(text, TEXT_MAX_CHARS));
    assert(message?.type !== 'stream' || message.text.length <= TEXT_MAX_CHARS);
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
