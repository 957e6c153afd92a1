import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ShortKeys } from '../../../src/http/access/short-keys.ts';
import { FakeClock } from '../../fakes/clock.ts';

const PROOF = { kind: 'user', name: 'ann', stamp: 'stamp' } as const;

it('has at most as much content as fits into a header', () => {
  const keys = new ShortKeys({ clock: new FakeClock(), clusterKey: '' });
  expect(() => keys.make({ proof: PROOF, content: 'x'.repeat(4096) }, 1000)).toThrow(/4096 bytes/);
  const key = keys.make({ proof: PROOF, content: 'x'.repeat(3900) }, 1000);
  expect(key.length).toBeLessThan(6000);
  expect(keys.read(key)).toEqual({ proof: PROOF, content: 'x'.repeat(3900) });
});

it('has as much content in any language, and is read again', () => {
  const keys = new ShortKeys({ clock: new FakeClock(), clusterKey: '' });
  const content = '\u8bf7\u7b80\u77ed'.repeat(430);
  expect(keys.read(keys.make({ proof: PROOF, content }, 1000))).toEqual({ proof: PROOF, content });
  expect(() => keys.make({ proof: PROOF, content: content.repeat(2) }, 1000)).toThrow(/4096 bytes/);
});

it('reads any text without failing, and takes none for a key', () => {
  const keys = new ShortKeys({ clock: new FakeClock(), clusterKey: '' });
  const likely = fc.base64String({ minLength: 0, maxLength: 200 }).map((text) => `ek_${text.replace(/[+/=]/g, '_')}`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), likely), (text) => {
      expect(keys.read(text)).toBeNull();
    }),
  );
});

it('says nothing of whose it is', () => {
  const keys = new ShortKeys({ clock: new FakeClock(), clusterKey: '' });
  const key = keys.make({ proof: PROOF, content: null }, 1000);
  expect(Buffer.from(key.slice(3), 'base64url').toString('latin1')).not.toContain('ann');
});
