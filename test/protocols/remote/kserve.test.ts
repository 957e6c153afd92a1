import { describe, expect, it } from 'vitest';
import {
  inferRequest,
  KserveError,
  kserveText,
  metadataRequest,
  readInferredText,
  readMetadata,
} from '../../../src/protocols/remote/kserve.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('KServe', () => {
  it('is asked what a model takes', () => {
    expect(hex(metadataRequest('abc'))).toBe('0a03616263');
  });

  it('tells what a model takes and gives, and more that is passed over', () => {
    // name "m", a version, input {name "WAV", datatype "FP32", shape [-1]}, output {name "T"}
    const answer = bytes('0a016d 120131 2216 0a03574156 120446503332 1a09 ffffffffffffffff01 2a03 0a0154');
    expect(readMetadata(answer)).toEqual({
      inputs: [{ name: 'WAV', datatype: 'FP32' }],
      outputs: [{ name: 'T', datatype: '' }],
    });
  });

  it('is sent tensors with their shapes, their content behind all of them', () => {
    const content = Uint8Array.of(1, 2);
    const request = inferRequest('m', [{ name: 'W', datatype: 'FP32', shape: [1, 300], content }], 'T');
    expect(hex(request)).toBe('0a016d2a0e0a0157120446503332' + '1a0301ac02' + '32030a0154' + '3a020102');
  });

  it('answers with the text of the tensor that was asked for', () => {
    // outputs "A" and "T", then their contents
    const answer = bytes('2a030a0141 2a030a0154 3200 3207 03000000 c3bc21');
    expect(readInferredText(answer, 'T')).toBe('ü!');
    expect(hex(kserveText('ü!'))).toBe('03000000c3bc21');
  });

  it.each([
    ['no tensor', ''],
    ['another tensor', '2a030a0141 3207 03000000 c3bc21'],
    ['a tensor without content', '2a030a0154'],
    ['a text that is cut off', '2a030a0154 3207 04000000 c3bc21'],
    ['no length', '2a030a0154 3202 0400'],
    ['half a message', '2a030a01'],
    ['no message', 'ffffffffffffffffffffff'],
  ])('is refused when it answers with %s', (_what, answer) => {
    expect(() => readInferredText(bytes(answer), 'T')).toThrow(KserveError);
  });
});
