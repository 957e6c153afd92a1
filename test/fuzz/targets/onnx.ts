import assert from 'node:assert/strict';
import { decode, encode } from '../../../engine/graph/codec.ts';
import { MODEL, type ModelProto } from '../../../engine/graph/onnx-proto.ts';
import { smallGraph } from '../../engine/graph/small-graph.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** A file is refused, or what is read of it can be written and read again. */
export const target: FuzzTarget = {
  name: 'onnx',
  seeds: [smallGraph(), Buffer.from([0x08, 0x08]), Buffer.from([0xfa, 0x01, 0x02, 0xaa, 0xbb])],
  run(input) {
    let model: ModelProto;
    try {
      model = decode<ModelProto>(MODEL, Uint8Array.from(input));
    } catch (error) {
      assert.match((error as Error).message, /^not a message of the expected kind: /);
      return;
    }
    assert.deepEqual(decode(MODEL, encode(MODEL, model)), model);
  },
};
