import type { Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { LegEnd } from '../../../src/calls/leg.ts';
import { AudioSocketLeg } from '../../../src/carriers/audiosocket/leg.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { FRAME_MS } from '../../../src/foundation/units.ts';
import type { CarrierEvent } from '../../../src/protocols/dialect.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { delivered } from '../../helpers/loopback.ts';
import { Asterisk, arrived, frame, message, NAMED, openPort } from './line.ts';

const LIMITS = { startTimeoutMs: 10_000, mediaTimeoutMs: 60_000, sendBufferMaxBytes: 65_536, messageMaxBytes: 4096 };

interface Line {
  readonly clock: FakeClock;
  readonly asterisk: Asterisk;
  readonly leg: AudioSocketLeg;
  readonly events: CarrierEvent[];
  readonly ends: LegEnd[];
}

let server: Server | null = null;
afterEach(() => server?.close());

/** A leg on a real connection. `onEvent` is what its call does on top of noting events. */
async function connectLeg(
  onEvent: (event: CarrierEvent, leg: AudioSocketLeg) => void = () => undefined,
  allowHalfOpen = false,
): Promise<Line> {
  const clock = new FakeClock();
  const events: CarrierEvent[] = [];
  const ends: LegEnd[] = [];
  const legs: AudioSocketLeg[] = [];
  const opened = await openPort((socket) => {
    const leg: AudioSocketLeg = new AudioSocketLeg({
      socket,
      streamId: 's1',
      limits: LIMITS,
      clock,
      handlers: {
        onEvent: (event) => {
          events.push(event);
          onEvent(event, leg);
        },
        onClosed: (end) => ends.push(end),
      },
    });
    legs.push(leg);
  });
  server = opened.server;
  const asterisk = await Asterisk.connect(opened.port, allowHalfOpen);
  await arrived(() => legs.length === 1);
  return { clock, asterisk, leg: legs[0] as AudioSocketLeg, events, ends };
}

const types = ({ events }: Line) => events.map((event) => (event.type === 'ignored' ? event.what : event.type));

/** A leg whose call has begun. */
async function liveLeg(onEvent?: (event: CarrierEvent, leg: AudioSocketLeg) => void): Promise<Line> {
  const line = await connectLeg(onEvent);
  line.asterisk.say(NAMED, frame(1000));
  await arrived(() => line.events.length >= 3);
  return line;
}

/** Lets time pass frame by frame, and what is sent in it arrive. */
async function pass(line: Line, durationMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += FRAME_MS) {
    line.clock.advance(FRAME_MS);
    await delivered();
  }
}

describe('the beginning of a leg', () => {
  it('is a UUID and the first sound', async () => {
    expect(types(await liveLeg())).toEqual(['uuid', 'start', 'audio']);
  });

  it('comes by itself when a caller sends no sound, long before Asterisk gives up', async () => {
    const line = await connectLeg();
    line.asterisk.say(NAMED);
    await arrived(() => line.events.length === 1);
    line.clock.advance(999);
    expect(types(line)).toEqual(['uuid']);
    line.clock.advance(1);
    expect(types(line)).toEqual(['uuid', 'start']);
    line.clock.advance(FRAME_MS);
    await arrived(() => line.asterisk.heard.length === 1);
  });

  it('is waited for, and a stranger who sends nothing is cut off', async () => {
    const line = await connectLeg();
    line.clock.advance(LIMITS.startTimeoutMs);
    await arrived(() => line.ends.length === 1);
    expect(line.ends).toMatchObject([{ reason: 'timeout', code: 'start_timeout' }]);
    expect(line.clock.pending).toBe(0);
  });

  it('is nothing else: another protocol is cut off at its first byte, without an answer', async () => {
    const line = await connectLeg();
    line.asterisk.say(Buffer.from('G'));
    await arrived(() => line.ends.length === 1 && line.asterisk.isClosed);
    expect([line.ends[0]?.code, line.asterisk.pieces, line.clock.pending]).toEqual(['message_malformed', [], 0]);
  });
});

describe('what a leg is told', () => {
  it('is told on, however it is split', async () => {
    const line = await connectLeg();
    const bytes = Buffer.concat([NAMED, frame(500), message(0x03, Buffer.from('5')), message(0x77, Buffer.from('?'))]);
    for (const byte of bytes) line.asterisk.socket.write(Buffer.of(byte));
    await arrived(() => line.events.length === 5);
    expect(types(line)).toEqual(['uuid', 'start', 'audio', 'dtmf', 'unknown_kind']);
  });

  it('is not heard while it is paused, and all of it after', async () => {
    const line = await liveLeg();
    line.leg.pause();
    line.asterisk.say(frame(1), frame(2));
    await pass(line, 200);
    expect(line.events).toHaveLength(3);
    line.leg.resume();
    await arrived(() => line.events.length === 5);
  });

  it('has an end: nothing at all for too long closes it, unless it is not read', async () => {
    const line = await liveLeg();
    line.leg.pause();
    line.clock.advance(LIMITS.mediaTimeoutMs * 2);
    expect(line.ends).toEqual([]);
    line.leg.resume();
    line.clock.advance(LIMITS.mediaTimeoutMs);
    await arrived(() => line.ends.length === 1);
    expect(line.ends).toMatchObject([{ reason: 'timeout', code: 'media_timeout' }]);
    expect(line.asterisk.reader.end).toBe('hangup');
  });

  it('is refused when it is too large', async () => {
    const line = await liveLeg();
    line.asterisk.say(Buffer.from([0x10, 0xff, 0xff]));
    await arrived(() => line.ends.length === 1);
    expect(line.ends).toMatchObject([{ reason: 'error', code: 'message_too_large' }]);
  });

  it('may break something of ours, which is told as such', async () => {
    const line = await liveLeg((event) => {
      if (event.type === 'audio') throw new Error('broken');
    });
    await arrived(() => line.ends.length === 1);
    expect(line.ends).toMatchObject([{ reason: 'error', code: 'internal', error: new Error('broken') }]);
  });
});

describe('what a leg says', () => {
  it('is one message in one piece', async () => {
    const line = await liveLeg();
    line.leg.send({ type: 'audio', bytes: new Uint8Array(320).fill(9) });
    await arrived(() => line.asterisk.heard.length === 1);
    expect([line.asterisk.pieces, line.asterisk.heard[0]?.length]).toEqual([[323], 320]);
  });

  it('is silence every 20 ms when there is nothing to say', async () => {
    const line = await liveLeg();
    await pass(line, 10_000);
    await arrived(() => line.asterisk.heard.length >= 498);
    expect(line.asterisk.heard.length).toBeLessThanOrEqual(500);
    expect(line.asterisk.heard.every((bytes) => bytes.length === 320 && bytes.every((byte) => byte === 0))).toBe(true);
  });

  it('is not more than Asterisk reads', async () => {
    const line = await liveLeg();
    line.asterisk.socket.pause();
    for (let i = 0; i < 60_000 && line.ends.length === 0; i++) {
      line.leg.send({ type: 'audio', bytes: new Uint8Array(320) });
      if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (i % 2000 === 1999) line.clock.advance(2000);
    }
    await arrived(() => line.ends.length === 1);
    expect(line.ends).toMatchObject([{ reason: 'error', code: 'reader_too_slow' }]);
  });

  it('is nothing after the end', async () => {
    const line = await liveLeg();
    line.leg.close();
    line.leg.send({ type: 'audio', bytes: new Uint8Array(320) });
    await arrived(() => line.ends.length === 1);
    expect(line.asterisk.heard).toEqual([]);
  });
});

describe('the end of a leg', () => {
  it('is a FIN of Asterisk: the caller has hung up', async () => {
    const line = await liveLeg((event, leg) => event.type === 'stop' && leg.close());
    line.asterisk.hangUp();
    await arrived(() => line.ends.length === 1);
    expect([types(line).at(-1), line.ends, line.asterisk.pieces]).toMatchObject([
      'stop',
      [{ reason: 'closed', code: null }],
      [],
    ]);
    expect(line.clock.pending).toBe(0);
  });

  it('is its word for it', async () => {
    const line = await liveLeg();
    line.asterisk.say(message(0x00));
    await arrived(() => types(line).at(-1) === 'stop');
  });

  it('is a FIN before the call begins, too', async () => {
    const line = await connectLeg();
    line.asterisk.say(NAMED).hangUp();
    await arrived(() => line.ends.length === 1);
    expect([types(line), line.ends]).toMatchObject([['uuid'], [{ reason: 'closed', code: null }]]);
    expect(line.clock.pending).toBe(0);
  });

  it('is lost when it comes in the middle of a message, or by a reset', async () => {
    const halfway = await liveLeg();
    halfway.asterisk.say(Buffer.from([0x10, 0x01])).hangUp();
    await arrived(() => halfway.ends.length === 1);
    expect(halfway.ends).toMatchObject([{ reason: 'lost', code: null }]);
    server?.close();
    const reset = await liveLeg();
    reset.asterisk.socket.resetAndDestroy();
    await arrived(() => reset.ends.length === 1);
    expect(reset.ends).toMatchObject([{ reason: 'lost', code: null }]);
  });

  it('is a hang-up and a FIN of ours', async () => {
    const line = await liveLeg();
    line.leg.fail(new TrunklineError('draining', 'the server is shutting down'));
    await arrived(() => line.ends.length === 1);
    expect([line.asterisk.reader.end, line.ends]).toMatchObject(['hangup', [{ reason: 'error', code: 'draining' }]]);
    expect(line.clock.pending).toBe(0);
  });

  it('leaves Asterisk 2 s for its own', async () => {
    const line = await connectLeg(undefined, true);
    line.asterisk.say(NAMED);
    await arrived(() => line.events.length === 1);
    line.leg.close();
    await arrived(() => line.asterisk.reader.end === 'hangup');
    line.clock.advance(1999);
    await pass(line, 0);
    expect(line.ends).toEqual([]);
    line.clock.advance(1);
    await arrived(() => line.ends.length === 1);
  });
});
