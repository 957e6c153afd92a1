import { describe, expect, it } from 'vitest';
import { isOneOfSecrets, isSameSecret } from '../../src/foundation/timing-safe.ts';

describe('isSameSecret', () => {
  it('compares texts of any length', () => {
    expect(isSameSecret('sesame', 'sesame')).toBe(true);
    expect(isSameSecret('sesame', 'sesamf')).toBe(false);
    expect(isSameSecret('sesame', 'sesame ')).toBe(false);
    expect(isSameSecret('', '')).toBe(true);
    expect(isSameSecret('', 'sesame')).toBe(false);
  });

  it('tells apart texts that differ in bytes but not in looks', () => {
    expect(isSameSecret('\u00e9', 'e\u0301')).toBe(false);
  });
});

describe('isOneOfSecrets', () => {
  it('finds a secret wherever it stands among the others', () => {
    expect(isOneOfSecrets('b', ['a', 'b', 'c'])).toBe(true);
    expect(isOneOfSecrets('d', ['a', 'b', 'c'])).toBe(false);
    expect(isOneOfSecrets('', [])).toBe(false);
  });
});
