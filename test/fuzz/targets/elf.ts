import { ElfError, parseElf } from '../../../engine/cuda/elf.ts';
import { makeElf } from '../../helpers/elf.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** A library's head is refused, or read. */
export const target: FuzzTarget = {
  name: 'elf',
  seeds: [makeElf({ needed: ['libcudart.so.12', 'libc.so.6'], runPath: '$ORIGIN' }), makeElf({ needed: [] })],
  run(input) {
    const bytes = Buffer.from(input);
    try {
      parseElf((at, length) => bytes.subarray(at, at + length), bytes.length);
    } catch (error) {
      if (!(error instanceof ElfError)) throw error;
    }
  },
};
