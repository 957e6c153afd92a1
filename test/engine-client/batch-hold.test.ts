import { beforeEach, describe, expect, it } from 'vitest';
import { BatchHold, type Holdable } from '../../src/engine-client/batch-hold.ts';
import { FakeClock } from '../fakes/clock.ts';

class FakeProcess implements Holdable {
  readonly holdsBatch: boolean;
  readonly holdsLive: boolean;
  isHeld = false;

  constructor(work: string) {
    this.holdsBatch = 'b2'.includes(work);
    this.holdsLive = 'l2'.includes(work);
  }

  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
  }
}

/** Processes by what they are at work on: `b` a batch job, `l` live speech, `2` both, `-` nothing. */
const processes = (work: string) => [...work].map((at) => new FakeProcess(at));

let clock: FakeClock;
let now: readonly FakeProcess[] = [];

function openHold(cores: number): BatchHold {
  const hold = new BatchHold({ clock, cores });
  hold.watch(() => now.slice(0, 1));
  hold.watch(() => now.slice(1));
  return hold;
}

beforeEach(() => {
  clock = new FakeClock();
});

/** Which of the processes were held back: `x`. */
function held(work: string, cores: number, hold = openHold(cores)): string {
  now = processes(work);
  hold.apply();
  return now.map(({ isHeld }) => (isHeld ? 'x' : '.')).join('');
}

describe('batch jobs', () => {
  it.each([
    ['go on while nothing is live', 'bb', 1, '..'],
    ['wait while the other core is the live job', 'bl', 2, 'x.'],
    ['wait behind a live job of their own engine', '2-', 2, 'x.'],
    ['go on where a core is left beside the gateway', 'bl', 3, '..'],
    ['go on as many as there are cores left', 'bbbl', 4, '..x.'],
    ['wait where there is one core', 'bl', 1, 'x.'],
  ])('%s', (_what, work, cores, expected) => {
    expect(held(work, cores)).toBe(expected);
  });

  it('take turns with live work that never ends: 20 ms after each 150', () => {
    const hold = openHold(2);
    const states = Array.from({ length: 40 }, () => {
      const state = held('bl', 2, hold);
      clock.advance(10);
      return state === 'x.' ? 'x' : '.';
    });
    expect(states.join('')).toBe(`${'x'.repeat(15)}..${'x'.repeat(15)}..${'x'.repeat(6)}`);
  });

  it('are not given a turn for time in which nothing was live', () => {
    const hold = openHold(2);
    expect(held('bl', 2, hold)).toBe('x.');
    clock.advance(100);
    expect(held('b-', 2, hold)).toBe('..');
    clock.advance(100);
    expect(held('bl', 2, hold)).toBe('x.');
  });
});
