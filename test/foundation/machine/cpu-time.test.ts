import { describe, expect, it } from 'vitest';
import { cpuTimeOf } from '../../../src/foundation/machine/cpu-time.ts';

const STAT =
  '42 (node) (x y) R 1 42 42 0 -1 4194304 900 0 3 0 150 25 7 8 20 0 11 0 12345 1000 200 18446744073709551615 0 0';

describe('the CPU time of a process', () => {
  it('is what its threads used in user and system mode, whatever the name of its program', () => {
    expect(cpuTimeOf(42, () => STAT)).toBe(1750);
  });

  it('is not known where there is no such file, or another one than expected', () => {
    const missing = () => {
      throw new Error('ENOENT');
    };
    expect(cpuTimeOf(42, missing)).toBeNull();
    expect(cpuTimeOf(42, () => 'nonsense')).toBeNull();
  });
});
