import { beforeEach, describe, expect, it } from 'vitest';
import { CallRoom } from '../../../src/calls/admission/call-room.ts';
import { FakeClock } from '../../fakes/clock.ts';

const AGES_MS = 600_000;

let clock: FakeClock;
let engine: { remoteUse: number | null; firmLoad: number };
let threadUse: number;
let room: CallRoom;

function open(settings: { MAX_CALLS: number; isMaxCallsMeasured: boolean }): void {
  room = new CallRoom({ settings, engine, clock, threadUse: () => threadUse });
}

/** So many calls have been there for long. */
function settle(live: number): void {
  room.note(live);
  clock.advance(AGES_MS);
}

beforeEach(() => {
  clock = new FakeClock();
  engine = { remoteUse: 0.2, firmLoad: 0.1 };
  threadUse = 0.1;
  open({ MAX_CALLS: 40, isMaxCallsMeasured: true });
});

describe('the room for calls', () => {
  it('is MAX_CALLS where that was set, whatever the servers can do', () => {
    open({ MAX_CALLS: 40, isMaxCallsMeasured: false });
    settle(40);
    expect(room.max).toBe(40);
  });

  it('is what the cores are good for until calls have shown more, and while no server answers', () => {
    expect(room.max).toBe(40);
    settle(15);
    expect(room.max).toBe(40);
    settle(40);
    expect(room.max).toBe(80);
    engine.remoteUse = null;
    expect(room.max).toBe(40);
  });

  it('is twice the calls that are there at most', () => {
    engine = { remoteUse: 0, firmLoad: 0 };
    threadUse = 0;
    open({ MAX_CALLS: 40, isMaxCallsMeasured: true });
    settle(100);
    expect(room.max).toBe(200);
    settle(9000);
    expect(room.max).toBe(10_000);
  });

  it('is as many as fit by what is used most: servers, engines, or the thread', () => {
    settle(100);
    engine.remoteUse = 0.5;
    expect(room.max).toBe(170);
    engine.firmLoad = 0.6;
    expect(room.max).toBe(142);
    threadUse = 0.68;
    expect(room.max).toBe(125);
    engine.remoteUse = 1.4;
    expect(room.max).toBe(61);
    engine.remoteUse = 9;
    expect(room.max).toBe(40);
  });

  it('grows with calls that have lasted, not with a crowd that has just come', () => {
    settle(40);
    room.note(80);
    expect(room.max).toBe(80);
    clock.advance(30_000);
    expect(room.max).toBe(Math.round(2 * (80 - 40 / Math.E)));
    settle(80);
    expect(room.max).toBe(160);
  });
});
