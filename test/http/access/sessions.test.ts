import { describe, expect, it } from 'vitest';
import type { Proof } from '../../../src/http/access/identities.ts';
import { SESSION_LIFE_MS, Sessions } from '../../../src/http/access/sessions.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { MemorySessions } from '../../fakes/people.ts';

const MAX = 1000;
const ANN: Proof = { kind: 'key', tenant: 'ann' };
const BOB: Proof = { kind: 'user', name: 'bob', stamp: '1' };

const begin = (clock = new FakeClock()) => new Sessions({ clock, onStoreFailed: () => undefined });

describe('sessions', () => {
  it('of one key end the oldest of that key when they are too many, and none of another', () => {
    const sessions = begin();
    const bob = sessions.open(BOB);
    const anns = Array.from({ length: MAX + 2 }, () => sessions.open(ANN));
    expect(sessions.proofOf(bob)).toBe(BOB);
    expect(anns.map((id) => sessions.proofOf(id))).toEqual([null, null, ...Array(MAX).fill(ANN)]);
  });

  it('that are over make room', () => {
    const clock = new FakeClock();
    const sessions = begin(clock);
    const old = sessions.open(ANN);
    clock.advance(SESSION_LIFE_MS);
    const anns = Array.from({ length: MAX }, () => sessions.open(ANN));
    expect([old, ...anns].map((id) => sessions.proofOf(id))).toEqual([null, ...Array(MAX).fill(ANN)]);
  });

  it('end together for one name, and for no other', async () => {
    const sessions = begin();
    const ids = [sessions.open(BOB), sessions.open(BOB), sessions.open(ANN)];
    await sessions.endAll(BOB);
    expect(ids.map((id) => sessions.proofOf(id))).toEqual([null, null, ANN]);
  });

  it('are there after a restart, but for those that ended or expired', async () => {
    const [clock, store] = [new FakeClock(), new MemorySessions()];
    const before = begin(clock);
    await before.restore(store);
    const old = before.open(ANN);
    clock.advance(SESSION_LIFE_MS / 2);
    const [kept, ended] = [before.open(BOB), before.open(BOB)];
    await before.end(ended);
    await before.settled();
    clock.advance(SESSION_LIFE_MS / 2);
    const after = begin(clock);
    await after.restore(store);
    expect([old, kept, ended].map((id) => after.proofOf(id))).toEqual([null, BOB, null]);
    expect([...store.kept.keys()].join()).not.toContain(kept);
  });

  it('go on in memory when the disk fails, which is told', async () => {
    const failures: unknown[] = [];
    const sessions = new Sessions({ clock: new FakeClock(), onStoreFailed: (error) => failures.push(error) });
    const store = new MemorySessions();
    await sessions.restore(store);
    store.add = () => Promise.reject(new Error('the disk is full'));
    const id = sessions.open(ANN);
    await sessions.settled();
    expect([sessions.proofOf(id), failures.length]).toEqual([ANN, 1]);
  });

  it('of nonsense in the store are passed over', async () => {
    const store = new MemorySessions();
    for (const principal of ['', '{}', '{"kind":"nobody"}', '{"kind":"user","name":1}'])
      await store.add({ hash: principal, principal, expiresMs: Number.MAX_SAFE_INTEGER });
    const sessions = begin();
    await expect(sessions.restore(store)).resolves.toBeUndefined();
  });
});
