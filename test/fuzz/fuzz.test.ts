import { describe, expect, it } from 'vitest';
import { type FuzzTarget, fuzz, loadTargets } from './fuzz.ts';

const targets = await loadTargets();

describe('the fuzzer', () => {
  const fragile: FuzzTarget = {
    name: 'fragile',
    seeds: [Buffer.from('{"digit":"1","more":"text that does not matter"}')],
    words: ['boom'],
    run: (input) => {
      if (Buffer.from(input).includes('boom')) throw new Error('boom');
    },
  };

  it('finds a planted fault and shrinks the input to it', () => {
    const { failure } = fuzz(fragile, 1, (executions) => executions < 5000);
    expect(Buffer.from(failure?.input ?? []).toString()).toBe('boom');
    expect(failure?.error).toEqual(new Error('boom'));
  });

  it('does the same again with the same seed', () => {
    const [first, second, other] = [7, 7, 8].map((seed) => fuzz(fragile, seed, () => true).executions);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });
});

it.each(targets.map((target) => [target.name, target] as const))(
  '%s withstands its seeds and 500 mutations of them',
  (_, target) => {
    expect(fuzz(target, 20_260_101, (executions) => executions < 500)).toMatchObject({ failure: null });
  },
);
