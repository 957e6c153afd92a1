import assert from 'node:assert/strict';
import { describe } from '../../../src/http/server/echo.ts';
import type { FuzzTarget } from '../fuzz.ts';

const ECHO_MAX_CHARACTERS = 81;

/** A wrong value in a request, as its error repeats it. */
export const target: FuzzTarget = {
  name: 'echo',
  seeds: ['{"text":[[1,"two",{"three":null}]],"voice":"slt"}', '[[[]]]', '"text"', '{}'].map((text) =>
    Buffer.from(text),
  ),
  words: ['[[[[', '{"a":', '"__proto__":', 'null', '\\ud800'],
  run(input) {
    let value: unknown;
    try {
      value = JSON.parse(Buffer.from(input).toString());
    } catch {
      return;
    }
    const said = describe(value);
    assert(said.length <= ECHO_MAX_CHARACTERS, `${said.length} characters`);
    if (!said.endsWith('…')) assert.equal(said, JSON.stringify(value));
  },
};
