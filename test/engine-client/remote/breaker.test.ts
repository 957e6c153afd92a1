import { beforeEach, describe, expect, it } from 'vitest';
import { Breaker, PROBE_MS } from '../../../src/engine-client/remote/breaker.ts';
import { FakeClock } from '../../fakes/clock.ts';

let clock: FakeClock;
let changes: boolean[];
let breaker: Breaker;

/** One request after the other: true = it is answered. */
function send(...answers: boolean[]): void {
  for (const isAnswered of answers) {
    breaker.begin();
    if (isAnswered) breaker.succeed();
    else breaker.fail();
  }
}

beforeEach(() => {
  clock = new FakeClock();
  changes = [];
  breaker = new Breaker(clock, (isOpen) => changes.push(isOpen));
});

describe('a breaker', () => {
  it('is half open from the moment when a request may try the server until that has failed', () => {
    expect(breaker.state).toBe('closed');
    send(false, false, false);
    expect(breaker.state).toBe('open');
    clock.advance(PROBE_MS);
    expect(breaker.state).toBe('half_open');
    breaker.begin();
    expect(breaker.state).toBe('half_open');
    breaker.fail();
    expect(breaker.state).toBe('open');
    clock.advance(PROBE_MS);
    send(true);
    expect(breaker.state).toBe('closed');
  });

  it('opens after three failures in a row', () => {
    send(false, false, true, false, false);
    expect(breaker.isOpen).toBe(false);
    send(false);
    expect([breaker.isOpen, breaker.admits]).toEqual([true, false]);
  });

  it('opens when half of the last twenty failed', () => {
    for (let n = 0; n < 9; n++) send(false, true);
    expect(breaker.isOpen).toBe(false);
    send(false);
    expect(breaker.isOpen).toBe(true);
  });

  it('forgets failures behind twenty answers', () => {
    for (let n = 0; n < 9; n++) send(false, true);
    for (let n = 0; n < 20; n++) send(true);
    send(false, false, true, false, false);
    expect(breaker.isOpen).toBe(false);
  });

  it('lets one request through each two seconds', () => {
    send(false, false, false);
    clock.advance(PROBE_MS - 1);
    expect(breaker.admits).toBe(false);
    clock.advance(1);
    expect(breaker.admits).toBe(true);
    breaker.begin();
    expect(breaker.admits).toBe(false);
    breaker.fail();
    clock.advance(PROBE_MS);
    expect(breaker.admits).toBe(true);
  });

  it('closes with the first answer, forgets what was, and tells each change once', () => {
    send(false, false, false, false);
    clock.advance(PROBE_MS);
    send(true, false, false);
    expect(breaker.isOpen).toBe(false);
    expect(changes).toEqual([true, false]);
  });
});
