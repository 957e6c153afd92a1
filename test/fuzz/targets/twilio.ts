import assert from 'node:assert/strict';
import type { CallStart, CarrierEvent } from '../../../src/carriers/carrier.ts';
import { TwilioDialect } from '../../../src/carriers/twilio.ts';
import { TrunklineError } from '../../../src/errors.ts';
import { wireFixtures } from '../fixtures.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** A close frame's reason is cut from it, and it goes into logs. */
const MESSAGE_MAX_CHARACTERS = 400;

function receive(dialect: TwilioDialect, line: string): CarrierEvent | null {
  try {
    // A line that begins with a NUL stands for a binary message.
    return dialect.receive(line.startsWith('\u0000') ? Buffer.from(line) : line);
  } catch (error) {
    assert(error instanceof TrunklineError, error as Error);
    assert(error.message.length <= MESSAGE_MAX_CHARACTERS, `error of ${error.message.length} characters`);
    return null;
  }
}

function checkEvent(event: CarrierEvent, start: CallStart | null, stopped: boolean): void {
  if (event.type === 'ignored') return;
  assert(!stopped, `${event.type} after stop`);
  if (event.type === 'start') {
    assert.equal(start, null, 'a second start');
    for (const value of Object.values(event.start.parameters)) assert.equal(typeof value, 'string');
    return;
  }
  assert(start !== null, `${event.type} before start`);
  if (event.type !== 'audio') return;
  assert(start.tracks.includes(event.track));
  assert(Number.isSafeInteger(event.sequence) && event.sequence >= 0);
  assert(event.atMs !== null && Number.isSafeInteger(event.atMs) && event.atMs >= 0);
}

/** Whole streams, one message a line. */
export const target: FuzzTarget = {
  name: 'twilio',
  seeds: [...wireFixtures('twilio', '.jsonl'), ...wireFixtures('twilio', '.json')],
  words: ['start', 'media', 'stop', 'mark', 'dtmf', 'inbound', 'outbound', 'customParameters', 'payload', '/w==', '"streamSid":', '\n'],
  run(input) {
    const dialect = new TwilioDialect();
    let start: CallStart | null = null;
    let stopped = false;
    for (const line of Buffer.from(input).toString().split('\n')) {
      const event = receive(dialect, line);
      if (event === null) continue;
      checkEvent(event, start, stopped);
      if (event.type === 'start') start = event.start;
      if (event.type === 'stop') stopped = true;
    }
    if (start !== null && !start.tracks.includes('outbound')) {
      const sent = JSON.parse(dialect.format({ type: 'audio', bytes: input.subarray(0, 20) }));
      assert.equal(sent.streamSid, start.streamId);
    }
  },
};
