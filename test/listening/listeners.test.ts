import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Metrics } from '../../src/foundation/metrics.ts';
import type { ListenerSession } from '../../src/listening/listener-place.ts';
import { type ListenerKind, Listeners } from '../../src/listening/listeners.ts';
import type { ListenerOwner } from '../../src/listening/shares.ts';
import { FakeClock, settle } from '../fakes/clock.ts';

const ALONE: ListenerOwner = { tenant: 'a', shortKey: null, isAlone: true };

class Client extends EventEmitter {
  isPaused = false;

  sound(): void {
    this.emit('message', Buffer.alloc(320), true);
  }

  text(): void {
    this.emit('message', Buffer.from('{}'), false);
  }

  readonly leave = (): void => void this.emit('close');
}

function open(max = 3) {
  const state = { firmLoad: 0, isDraining: false, wakes: 0, wake: () => state.wakes++ };
  const metrics = new Metrics();
  const clock = new FakeClock();
  const listeners = new Listeners({
    engine: state,
    settings: { LISTENERS_MAX: max },
    metrics,
    clock,
    isDraining: () => state.isDraining,
  });
  /** A session, and what it was asked for. */
  const enter = (kind: ListenerKind, owner = ALONE, isBusy = false) => {
    const client = new Client();
    const asked: string[] = [];
    const session: ListenerSession = {
      isBusy: () => isBusy,
      finish: () => void asked.push('finish'),
      fail: ({ code }) => void asked.push(code),
    };
    listeners.enter(kind, { owner, socket: client, session });
    return { client, asked, leave: client.leave };
  };
  /** Opens one more if it may; true = it may not. */
  const isRefused = (owner: ListenerOwner): boolean => {
    try {
      listeners.admit(owner);
    } catch (error) {
      expect(error).toMatchObject({ code: 'too_many_listeners' });
      return true;
    }
    return false;
  };
  return { listeners, metrics, clock, state, enter, isRefused };
}

describe('listeners', () => {
  it('are refused beyond the most, of whatever kind they are, until one is gone', () => {
    const { listeners, enter } = open(2);
    const { leave } = enter('deepgram');
    listeners.admit(ALONE);
    enter('realtime');
    expect(() => listeners.admit(ALONE)).toThrow(/2 listening sessions are open and at most 2/);
    leave();
    leave();
    expect(() => listeners.admit(ALONE)).not.toThrow();
    expect(listeners.count).toBe(1);
  });

  it('have the engines started before their handshake is answered, unless they are refused', () => {
    const { isRefused, state } = open();
    expect([isRefused(ALONE), state.wakes]).toEqual([false, 1]);
    state.isDraining = true;
    expect(() => isRefused(ALONE)).toThrow();
    expect(state.wakes).toBe(1);
  });

  it('are refused while the engines have no room, unless nobody listens', () => {
    const { listeners, state, enter } = open();
    state.firmLoad = 0.85;
    expect(() => listeners.admit(ALONE)).not.toThrow();
    enter('qwen');
    expect(() => listeners.admit(ALONE)).toThrow(expect.objectContaining({ code: 'too_many_listeners' }));
    state.firmLoad = 0.84;
    expect(() => listeners.admit(ALONE)).not.toThrow();
  });

  it('are refused while the server shuts down', () => {
    const { listeners, state } = open();
    state.isDraining = true;
    expect(() => listeners.admit(ALONE)).toThrow(expect.objectContaining({ code: 'draining' }));
  });

  it('are counted by their kind', async () => {
    const { metrics, enter } = open();
    const { leave } = enter('deepgram');
    enter('deepgram');
    leave();
    const { values } = await metrics.listeners.get();
    const byKind = new Map(values.map(({ labels, value }) => [labels.kind, value]));
    expect([byKind.get('deepgram'), byKind.get('qwen')]).toEqual([1, 0]);
  });

  it('are waited for until they have gone, and none is let in meanwhile', async () => {
    const { listeners, enter } = open();
    const [one, other] = [enter('deepgram'), enter('speak')];
    const drained = listeners.drain(1000);
    expect(() => listeners.admit(ALONE)).toThrow(expect.objectContaining({ code: 'draining' }));
    one.leave();
    other.leave();
    await drained;
    expect([one.asked, other.asked]).toEqual([[], []]);
  });

  it('are asked to end when the time is up, and waited for some seconds more', async () => {
    const { listeners, clock, enter } = open();
    const [one, other] = [enter('deepgram'), enter('flux')];
    let isDrained = false;
    const drained = listeners.drain(1000).then(() => {
      isDrained = true;
    });
    clock.advance(999);
    await settle();
    expect(one.asked).toEqual([]);
    clock.advance(1);
    await settle();
    one.leave();
    await settle();
    expect([one.asked, other.asked, isDrained]).toEqual([['finish'], ['finish'], false]);
    clock.advance(5000);
    await drained;
  });
});

describe('places for live audio', () => {
  const key = (tenant: string): ListenerOwner => ({ tenant, shortKey: null, isAlone: false });
  const shortKey = (name: string, isAlone = true): ListenerOwner => ({ tenant: 'a', shortKey: name, isAlone });

  it.each([
    ['a key with nobody beside it', ALONE, 10],
    ['a key among others', key('a'), 7],
    ['a short-lived key', shortKey('x'), 5],
  ])('%s gets no more than its share', (_name, owner, most) => {
    const { enter, isRefused } = open(10);
    let count = 0;
    while (!isRefused(owner)) {
      enter('realtime', owner);
      count++;
    }
    expect(count).toBe(most);
  });

  it('are left for each who comes later, as long as there are any', () => {
    const { listeners, enter, isRefused } = open(10);
    for (const owner of [shortKey('x', false), shortKey('y', false), key('b'), key('c')]) {
      let count = 0;
      while (!isRefused(owner)) {
        enter('deepgram', owner);
        count++;
      }
      expect(count).toBeGreaterThan(0);
    }
    expect(listeners.count).toBe(10);
  });

  it('are given up by the one that has been silent for longest, a minute at least, with a code', () => {
    const { clock, enter, isRefused } = open(3);
    const [one, two, three] = [enter('realtime'), enter('deepgram'), enter('speak')];
    clock.advance(30_000);
    one.client.text();
    clock.advance(29_000);
    // Text is no sound there.
    two.client.text();
    expect(isRefused(ALONE)).toBe(true);
    clock.advance(1000);
    expect(isRefused(ALONE)).toBe(false);
    expect([one.asked, two.asked, three.asked]).toEqual([[], ['silent_session_ended'], []]);
    two.leave();
    enter('realtime');
    expect(isRefused(ALONE)).toBe(false);
    expect([one.asked, three.asked]).toEqual([[], ['silent_session_ended']]);
  });

  it('are kept by who sends sound, by who speaks and by who is not read', () => {
    const { clock, enter, isRefused } = open(3);
    const [talks, waits] = [enter('deepgram'), enter('qwen')];
    enter('speak', ALONE, true);
    waits.client.isPaused = true;
    clock.advance(59_000);
    talks.client.sound();
    clock.advance(59_000);
    expect(isRefused(ALONE)).toBe(true);
  });

  it('are given up among those of a key that has its share, not by others', () => {
    const { clock, enter, isRefused } = open(10);
    const other = enter('deepgram', key('b'));
    clock.advance(1000);
    const own = Array.from({ length: 4 }, () => enter('realtime', shortKey('x', false)));
    own[0]?.client.text();
    clock.advance(59_500);
    expect(isRefused(shortKey('x', false))).toBe(true);
    clock.advance(500);
    expect(isRefused(shortKey('x', false))).toBe(false);
    expect([other.asked, own.map(({ asked }) => asked[0])]).toEqual([
      [],
      ['silent_session_ended', undefined, undefined, undefined],
    ]);
  });

  it('end after ten minutes without sound, but for those that speak', () => {
    const { clock, enter } = open();
    const [silent, talks, speaks] = [enter('realtime'), enter('jambonz'), enter('speak')];
    clock.advance(599_000);
    talks.client.sound();
    clock.advance(1000);
    expect([silent.asked, talks.asked, speaks.asked]).toEqual([['media_timeout'], [], []]);
    clock.advance(598_000);
    expect(talks.asked).toEqual([]);
    clock.advance(1000);
    expect(talks.asked).toEqual(['media_timeout']);
    talks.leave();
    clock.advance(3_600_000);
    expect([talks.asked.length, speaks.asked]).toEqual([1, []]);
  });
});
