import assert from 'node:assert/strict';
import { TrunklineError } from '../../src/foundation/errors.ts';
import type { CallStart, CarrierEvent, Dialect } from '../../src/protocols/dialect.ts';
import { toMessage } from '../helpers/wire.ts';
import { wireFixtures } from './fixtures.ts';
import type { FuzzTarget } from './fuzz.ts';

/** A close frame's reason is cut from it, and it goes into logs. */
const MESSAGE_MAX_CHARACTERS = 400;
/** What a counter may be labelled with. */
const LABEL = /^[a-z0-9_]{1,32}$/;

interface Streams {
  readonly carrier: string;
  /** Words of its messages, beside those that all have. */
  readonly words: readonly string[];
  /** Events that may come before the start: the call keeps them. */
  readonly early?: readonly CarrierEvent['type'][];
  open(): Dialect;
  /** Checks what a started stream sends for this audio. */
  checkSent(message: string | Uint8Array, start: CallStart, audio: Uint8Array): void;
}

/** Whole streams of one carrier, one message a line. */
export function streamTarget({ carrier, words, early = [], open, checkSent }: Streams): FuzzTarget {
  return {
    name: carrier,
    seeds: [...wireFixtures(carrier, '.jsonl'), ...wireFixtures(carrier, '.json')],
    words: ['start', 'media', 'dtmf', 'mark', 'stop', 'inbound', 'payload', '/w==', '\n', ...words],
    run(input) {
      const dialect = open();
      let start: CallStart | null = null;
      let stopped = false;
      for (const line of Buffer.from(input).toString().split('\n')) {
        for (const event of receive(dialect, line)) {
          if (start !== null || !early.includes(event.type)) checkEvent(event, start, stopped);
          if (event.type === 'start') start = event.start;
          if (event.type === 'stop') stopped = true;
        }
      }
      if (start === null || start.playback === 'none') return;
      const audio = input.subarray(0, 20);
      for (const message of [dialect.format({ type: 'audio', bytes: audio })].flat()) checkSent(message, start, audio);
      for (const command of [{ type: 'mark', name: 's1' }, { type: 'clear' }] as const)
        JSON.parse(String(dialect.format(command)));
    },
  };
}

function receive(dialect: Dialect, line: string): CarrierEvent[] {
  try {
    // A line that begins with a NUL stands for a binary message.
    return [dialect.receive(line.startsWith('\u0000') ? Buffer.from(line) : toMessage(line))].flat();
  } catch (error) {
    assert(error instanceof TrunklineError, error as Error);
    assert(error.message.length <= MESSAGE_MAX_CHARACTERS, `error of ${error.message.length} characters`);
    return [];
  }
}

function checkEvent(event: CarrierEvent, start: CallStart | null, stopped: boolean): void {
  if (event.type === 'ignored') {
    assert.match(event.what, LABEL);
    return;
  }
  assert(!stopped, `${event.type} after stop`);
  if (event.type === 'start') {
    assert.equal(start, null, 'a second start');
    for (const value of Object.values(event.start.parameters)) assert.equal(typeof value, 'string');
    assert(Number.isInteger(event.start.codec.rateHz / 50), 'frames of 20 ms');
    return;
  }
  assert(start !== null, `${event.type} before start`);
  if (event.type !== 'audio') return;
  assert(start.tracks.includes(event.track));
  assert(Number.isSafeInteger(event.sequence) && event.sequence >= 0);
  assert(event.atMs === null || (Number.isSafeInteger(event.atMs) && event.atMs >= 0));
}

/** Checks that the sound in a JSON message is `audio`. */
export function checkPayload(message: string | Uint8Array, _start: CallStart, audio: Uint8Array): void {
  const { media } = JSON.parse(String(message)) as { media: { payload: string } };
  assert.deepEqual(Buffer.from(media.payload, 'base64'), Buffer.from(audio));
}
