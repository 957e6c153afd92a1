import { describe, expect, it } from 'vitest';
import { readSherpaResult, sherpaUtterance } from '../../../src/protocols/remote/sherpa.ts';

describe('an utterance for sherpa-onnx', () => {
  it('has its rate, its bytes, and floats', () => {
    const message = Buffer.from(sherpaUtterance(Int16Array.of(-32_768, 0, 16_384)));
    expect([message.readInt32LE(0), message.readInt32LE(4), message.length]).toEqual([16_000, 12, 20]);
    expect([8, 12, 16].map((at) => message.readFloatLE(at))).toEqual([-1, 0, 0.5]);
  });
});

describe('a result of sherpa-onnx', () => {
  it.each([
    ['{"text": " hello there", "timestamps": [], "tokens": ["hello"]}', 'hello there'],
    ['hello there', 'hello there'],
    ['{"text": ""}', ''],
    ['{"text": 7}', null],
    ['{"words": []}', null],
    ['{"text": "hel', null],
    [`{"text": "${'a'.repeat(500)}"}`, null],
  ])('is read from %s', (answer, text) => {
    expect(readSherpaResult(answer, 16_000)).toBe(text);
  });
});
