import assert from 'node:assert/strict';
import { KeyDetector, parseEvent, writeEvent } from '../../../src/carriers/sip/wire/rtp/telephone-event.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** A timestamp (16 bits), a marker, and the payload. */
const PACKET_BYTES = 7;

function packets(
  ...all: readonly { at: number; marker?: boolean; digit: string; end?: boolean; duration: number }[]
): Uint8Array {
  return Buffer.concat(
    all.map(({ at, marker = false, digit, end = false, duration }) =>
      Buffer.concat([Buffer.of(at >> 8, at & 0xff, marker ? 1 : 0), writeEvent({ digit, end, duration })]),
    ),
  );
}

/**
 * Packets of keys, one after the other: what is read can be written again, and no packet presses more than its own key,
 * none that is known once more.
 */
export const target: FuzzTarget = {
  name: 'telephone-event',
  seeds: [
    packets(
      { at: 1, marker: true, digit: '5', duration: 160 },
      { at: 1, digit: '5', duration: 320 },
      { at: 1, digit: '5', end: true, duration: 800 },
    ),
    packets(
      { at: 1, digit: '#', end: true, duration: 800 },
      { at: 1, digit: '#', end: true, duration: 800 },
      { at: 9, digit: 'D', duration: 160 },
    ),
    packets({ at: 0, marker: true, digit: '0', duration: 0xffff }, { at: 0xffff, digit: '0', duration: 160 }),
  ],
  run(input) {
    const keys = new KeyDetector();
    let last = '';
    for (let at = 0; at + PACKET_BYTES <= input.length; at += PACKET_BYTES) {
      const [high = 0, low = 0, marker = 0] = input.subarray(at, at + 3);
      const payload = input.subarray(at + 3, at + PACKET_BYTES);
      const event = parseEvent(payload);
      if (event === null) continue;
      assert.deepEqual(parseEvent(writeEvent(event)), event);
      const timestamp = high * 256 + low;
      const pressed = keys.receive(event, timestamp, (marker & 1) === 1);
      assert(pressed === null || pressed === event.digit);
      const name = `${timestamp} ${event.digit}`;
      assert(name !== last || pressed === null, 'the same key twice');
      last = name;
    }
    assert.equal(parseEvent(input.subarray(0, 3)), null);
  },
};
