import assert from 'node:assert/strict';
import { readJsonPath, valueAt } from '../../../src/flows/verbs/json-path.ts';
import type { FuzzTarget } from '../fuzz.ts';

const DOCUMENT = { a: [{ b: 'c', 'd e': null }, [1, 2]], __proto__: 1 };

/** Paths of `http` steps: read, or refused with a RangeError; no path finds what the document has not. */
export const target: FuzzTarget = {
  name: 'flow-json-path',
  seeds: ['$.a[0].b', '$[\'a\'][-1]["d e"]', '$.a[1][0]', '$..a', '$[?@.b]'].map((text) => Buffer.from(text)),
  words: ['$', '.', '[', ']', "'", '"', '\\', '\\u0061', '-1', '*', '..', '?@', 'constructor', '__proto__', ' '],
  run(input) {
    try {
      const path = readJsonPath(Buffer.from(input).toString());
      assert(path.length <= 50);
      assert.notEqual(typeof valueAt(DOCUMENT, path), 'function');
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  },
};
