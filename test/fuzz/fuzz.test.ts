import { describe, expect, it } from 'vitest';
import { type FuzzTarget, fuzz, loadTargets } from './fuzz.ts';
import { findGrowth } from './growth.ts';

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

describe('the growth of work', () => {
  /** Characters that a pattern looks at: those of runs of `b` from each of their places, if it begins anywhere. */
  const workOn = (isQuadratic: boolean) => ({
    of: (input: Uint8Array) => {
      const runs = Buffer.from(input).toString().match(/b+/g) ?? [];
      return input.length + runs.reduce((sum, { length }) => sum + (isQuadratic ? length ** 2 : length), 0);
    },
    min: 100,
    max: 1e12,
  });
  const text = Buffer.from(`{"text":"${'a'.repeat(400)}${'b'.repeat(400)}c"}`);

  it('is told where it is more than linear', () => {
    expect(findGrowth(text, workOn(true))).toMatch(/^a piece of 1 bytes at \d+, twice as often, costs [34]\.\d and/);
  });

  it('is none where it is linear, or where the piece that grows does not matter', () => {
    expect(findGrowth(text, workOn(false))).toBeNull();
    expect(findGrowth(Buffer.from('{"text":"a"}'), workOn(true))).toBeNull();
  });
});

/** `.ci/run` goes on for a minute, with another seed for each commit. */
const MUTATIONS = 100;

it.each(targets.map((target) => [target.name, target] as const))(
  `%s withstands its seeds and ${MUTATIONS} mutations of them`,
  (_, target) => {
    expect(fuzz(target, 20_260_101, (executions) => executions < MUTATIONS)).toMatchObject({ failure: null });
  },
);
