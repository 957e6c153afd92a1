import { describe, expect, it } from 'vitest';
import { Teller } from '../../../engine/models/teller.ts';

const samples = (length: number, value = 1) => new Int16Array(length).fill(value);

describe('a sound that is told as it is made', () => {
  it('begins with enough to wait behind, and goes on with whatever comes', () => {
    const told: Int16Array[] = [];
    const teller = new Teller((sound) => told.push(sound.samples), { rateHz: 1000, firstMs: 100 });
    teller.push(samples(60, 1));
    teller.push(samples(0));
    expect([told.length, teller.hasTold]).toEqual([0, false]);
    teller.push(samples(50, 2));
    teller.push(samples(10, 3));
    expect(told).toEqual([Int16Array.of(...samples(60, 1), ...samples(50, 2)), samples(10, 3)]);
    expect(teller.end(samples(5, 4))).toEqual(samples(5, 4));
  });

  it('is all at the end where it is short', () => {
    const teller = new Teller(() => expect.unreachable(), { rateHz: 1000, firstMs: 100 });
    teller.push(samples(60, 1));
    expect(teller.end(samples(5, 2))).toEqual(Int16Array.of(...samples(60, 1), ...samples(5, 2)));
  });
});
