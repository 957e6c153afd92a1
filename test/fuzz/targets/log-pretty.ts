import assert from 'node:assert/strict';
import { prettyLine } from '../../../src/foundation/log/log-pretty.ts';
import { describeAnswer } from '../../../src/simulator/http-answer.ts';
import type { FuzzTarget } from '../fuzz.ts';

const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const SEEDS = [
  '{"level":30,"time":1795335680498,"pid":1,"hostname":"vm","url":"http://127.0.0.1:8080","maxCalls":40,"msg":"listening"}',
  '{"level":50,"time":0,"err":{"type":"Error","message":"gone","stack":"Error: gone\\n    at a ' +
    '(b.ts:1:1)"},"msg":"failed"}',
  '{"error":{"message":"40 calls are live","type":"server_error","param":null,"code":"too_many_calls"}}',
];

/**
 * What strangers had written into log lines, and what a bridge answers: on a terminal neither may be more than text.
 */
export const target: FuzzTarget = {
  name: 'log-pretty',
  seeds: SEEDS.map((seed) => Buffer.from(seed)),
  words: [
    '"level":60',
    '"time":1e999',
    '"msg":',
    '"err":null',
    '"stack":"',
    '\\u001b[2J',
    '\\n',
    '\\u202e',
    '{"error":',
    '"code":7',
    '__proto__',
  ],
  run(input) {
    const line = Buffer.from(input).toString();
    const pretty = prettyLine(line, { colours: false });
    // What is no object of the log comes back as it is; nothing else writes to it.
    if (pretty !== line) for (const part of pretty.replace(/\n$/, '').split('\n')) assert.doesNotMatch(part, UNSAFE);
    assert.doesNotMatch(describeAnswer(503, line), UNSAFE);
  },
};
