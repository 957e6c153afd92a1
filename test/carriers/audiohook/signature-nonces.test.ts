import { expect, it } from 'vitest';
import { SignatureNonces } from '../../../src/carriers/audiohook/signature-nonces.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { outwait } from '../../helpers/outwait.ts';

it('takes a nonce once while its signature holds', async () => {
  const clock = new FakeClock();
  const nonces = new SignatureNonces({ clock, shared: null });
  expect([await nonces.isFirst('a'), await nonces.isFirst('a'), await nonces.isFirst('b')]).toEqual([
    true,
    false,
    true,
  ]);
  clock.advance(31_000);
  expect(await nonces.isFirst('a')).toBe(true);
});

it('refuses one that another gateway took', async () => {
  const nonces = new SignatureNonces({ clock: new FakeClock(), shared: { claim: async (_kind, key) => key !== 'a' } });
  expect([await nonces.isFirst('a'), await nonces.isFirst('b')]).toEqual([false, true]);
});

it('goes by its own memory while the database fails or hangs', async () => {
  const clock = new FakeClock();
  const failing = new SignatureNonces({ clock, shared: { claim: () => Promise.reject(new Error('away')) } });
  expect([await failing.isFirst('a'), await failing.isFirst('a')]).toEqual([true, false]);
  const hanging = new SignatureNonces({ clock, shared: { claim: () => new Promise(() => undefined) } });
  expect(await outwait(clock, hanging.isFirst('a'))).toBe(true);
});
