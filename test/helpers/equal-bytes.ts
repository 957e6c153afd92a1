/**
 * Lets `toEqual` compare audio at once: by itself it makes a list of all indexes of both arrays, which took most of the
 * time of tests that compare seconds of samples. Whole numbers are equal when their bytes are.
 */
import { expect } from 'vitest';

type WholeNumbers = Uint8Array | Int16Array;

function sameBytes(one: unknown, other: unknown): boolean | undefined {
  if (!(isSamples(one) && isSamples(other)) || one.constructor !== other.constructor) return undefined;
  return Buffer.compare(bytesOf(one), bytesOf(other)) === 0;
}

function isSamples(value: unknown): value is WholeNumbers {
  return value instanceof Int16Array || value instanceof Uint8Array;
}

function bytesOf({ buffer, byteOffset, byteLength }: WholeNumbers): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

// Files that share a process share its testers.
const INSTALLED = Symbol.for('trunkline.equal-bytes');
if (!Object.hasOwn(globalThis, INSTALLED)) {
  Object.defineProperty(globalThis, INSTALLED, { value: true });
  expect.addEqualityTesters([sameBytes]);
}
