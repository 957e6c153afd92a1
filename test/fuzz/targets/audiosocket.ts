import assert from 'node:assert/strict';
import { AudioSocketDialect, AudioSocketFramer } from '../../../src/carriers/audiosocket/wire/audiosocket.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { CarrierEvent } from '../../../src/protocols/dialect.ts';
import { readRecording } from '../../carriers/audiosocket/wire/audiosocket-recordings.ts';
import type { FuzzTarget } from '../fuzz.ts';

const MESSAGE_MAX_BYTES = 8192;
/** A close reason is cut from it, and it goes into logs. */
const ERROR_MAX_CHARACTERS = 400;

/** The beginning of what Asterisk said in a recording. */
function seedFrom(name: string): Uint8Array {
  const said = readRecording(`${name}.jsonl`).messages.filter(({ fromAsterisk }) => fromAsterisk);
  return Buffer.concat(said.slice(0, 8).map(({ bytes }) => bytes));
}

/** All that is made of a connection whose bytes come in pieces of `size`, and the code of what ended it. */
function hear(input: Uint8Array, size: number): { events: CarrierEvent[]; code: string | null } {
  const framer = new AudioSocketFramer(MESSAGE_MAX_BYTES);
  const dialect = new AudioSocketDialect('s1');
  const events: CarrierEvent[] = [];
  try {
    for (let at = 0; at < input.length; at += size) {
      for (const message of framer.push(input.subarray(at, at + size))) events.push(...dialect.receive(message));
    }
    return { events, code: null };
  } catch (error) {
    assert(error instanceof TrunklineError, error as Error);
    assert(error.message.length <= ERROR_MAX_CHARACTERS, `error of ${error.message.length} characters`);
    return { events, code: error.code };
  }
}

/** Whole connections. The first byte says in which pieces the rest comes. */
export const target: FuzzTarget = {
  name: 'audiosocket',
  seeds: ['e1-app-prompt', 'e3-app-dtmf', 'e8-channel-ulaw', 'e8-channel-slin16', 'e9-channel-dtmf'].map((name) =>
    Buffer.concat([Buffer.of(7), seedFrom(name)]),
  ),
  words: [
    '\u0000\u0000\u0000',
    '\u0003\u0000\u00015',
    '\u0010\u0000\u0002ab',
    '\u0012\u0000\u0000',
    '\u0018\u0001\u0000',
    'ÿÿÿ',
    '\u0001\u0000\u0010',
  ],
  run(input) {
    const bytes = input.subarray(1);
    const whole = hear(bytes, Math.max(bytes.length, 1));
    const pieces = hear(bytes, (input[0] ?? 0) + 1);
    assert.equal(pieces.code, whole.code);
    assert.deepEqual(
      pieces.events.map(({ type }) => type),
      whole.events.map(({ type }) => type),
    );
    let started = false;
    let sequence = 0;
    for (const event of whole.events) {
      if (event.type === 'start') {
        assert(!started, 'a second start');
        assert.match(event.start.callId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
        started = true;
      }
      if (event.type === 'audio' || event.type === 'dtmf') assert(started, `${event.type} before start`);
      if (event.type !== 'audio') continue;
      assert.equal(event.sequence, ++sequence);
      assert(event.bytes.length <= 24 * MESSAGE_MAX_BYTES);
    }
  },
};
