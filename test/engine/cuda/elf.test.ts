import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { providerFolder } from '../../../engine/cuda/cuda-report.ts';
import { ElfError, type ElfFile, parseElf, readElf } from '../../../engine/cuda/elf.ts';
import { makeElf } from '../../helpers/elf.ts';

function parse(bytes: Buffer): ElfFile {
  return parseElf((at, length) => bytes.subarray(at, at + length), bytes.length);
}

const MADE = makeElf({ needed: ['libcudart.so.12', 'libc.so.6'], runPath: '$ORIGIN:/opt/lib' });

describe('the head of an ELF file', () => {
  it('names the libraries that it needs and where it asks for them', () => {
    expect(parse(MADE)).toEqual({
      machine: 'x64',
      needed: ['libcudart.so.12', 'libc.so.6'],
      runPath: ['$ORIGIN', '/opt/lib'],
    });
    expect(parse(makeElf({ needed: [], machine: 183 }))).toEqual({ machine: 'arm64', needed: [], runPath: [] });
  });

  it('is read of real libraries too: that of onnxruntime looks beside itself', () => {
    const library = join(dirname(providerFolder('linux', 'x64')), 'x64', 'libonnxruntime.so.1');
    const { machine, needed, runPath } = readElf(library);
    expect({ machine, runPath }).toEqual({ machine: 'x64', runPath: ['$ORIGIN'] });
    expect(needed).toEqual(expect.arrayContaining(['libstdc++.so.6', 'libc.so.6']));
  });

  it('is refused where the file is cut off', () => {
    for (const bytes of [0, 40, 100, MADE.length - 100, MADE.length - 1])
      expect(() => parse(MADE.subarray(0, bytes))).toThrow(ElfError);
    expect(() => parse(MADE.subarray(0, MADE.length - 1))).toThrow(`ends after ${MADE.length - 1} bytes`);
  });

  it('is refused where it is none, or of another kind', () => {
    expect(() => parse(Buffer.from('#!/bin/sh\n'.repeat(20)))).toThrow('it is no ELF file');
    const narrow = Buffer.from(MADE);
    narrow[4] = 1;
    expect(() => parse(narrow)).toThrow('64-bit');
  });
});
