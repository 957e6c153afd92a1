import { describe, expect, it } from 'vitest';
import { SESSION_LIFE_MS, Sessions } from '../../../src/http/access/sessions.ts';
import { FakeClock } from '../../fakes/clock.ts';

const MAX = 1000;

describe('sessions', () => {
  it('of one key end the oldest of that key when they are too many, and none of another', () => {
    const sessions = new Sessions({ clock: new FakeClock() });
    const bob = sessions.open('bob');
    const anns = Array.from({ length: MAX + 2 }, () => sessions.open('ann'));
    expect(sessions.tenantOf(bob)).toBe('bob');
    expect(anns.map((id) => sessions.tenantOf(id))).toEqual([null, null, ...Array(MAX).fill('ann')]);
  });

  it('that are over make room', () => {
    const clock = new FakeClock();
    const sessions = new Sessions({ clock });
    const old = sessions.open('ann');
    clock.advance(SESSION_LIFE_MS);
    const anns = Array.from({ length: MAX }, () => sessions.open('ann'));
    expect([old, ...anns].map((id) => sessions.tenantOf(id))).toEqual([null, ...Array(MAX).fill('ann')]);
  });
});
