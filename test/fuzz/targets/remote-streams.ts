import assert from 'node:assert/strict';
import { KserveError, readInferredText, readMetadata } from '../../../src/protocols/remote/kserve.ts';
import { readSherpaResult } from '../../../src/protocols/remote/sherpa.ts';
import { readWyomingText, WyomingError, WyomingReader } from '../../../src/protocols/remote/wyoming.ts';
import type { FuzzTarget } from '../fuzz.ts';

const SAMPLES = 16_000;
const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** What servers that speak sherpa-onnx, Wyoming or KServe answer. */
export const target: FuzzTarget = {
  name: 'remote-streams',
  seeds: [
    Buffer.from('{"type":"transcript","data_length":15,"payload_length":2}\n{"text":"Hi."}  xx'),
    Buffer.from('{"type":"transcript","data":{"text":"Hi."}}\n'),
    Buffer.from('{"text": "hello", "timestamps": []}'),
    hex('0a016d 120131 2216 0a03574156 120446503332 1a09 ffffffffffffffff01 2a03 0a0154'),
    hex('2a030a0141 2a030a0154 3200 3207 03000000 c3bc21'),
  ],
  words: ['"data_length":', '"payload_length":', '"type":', '"text":', '\n', '65536', '-1', '1e999'],
  run(input) {
    readSherpaResult(Buffer.from(input).toString('utf8'), SAMPLES);
    assert.equal(JSON.stringify(readEvents(input, 7)), JSON.stringify(readEvents(input, 1000)));
    for (const read of [() => readMetadata(input), () => readInferredText(input, 'T')]) {
      try {
        read();
      } catch (error) {
        assert(error instanceof KserveError);
      }
    }
  },
};

/** However it is cut, the same comes out; null = it is refused. */
function readEvents(input: Uint8Array, size: number): unknown {
  const reader = new WyomingReader();
  const texts: unknown[] = [];
  try {
    for (let at = 0; at < input.length; at += size)
      for (const event of reader.read(input.subarray(at, at + size))) texts.push(readWyomingText(event, SAMPLES));
    return texts;
  } catch (error) {
    assert(error instanceof WyomingError);
    return null;
  }
}
