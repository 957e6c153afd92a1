import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from '../../../engine/graph/codec.ts';
import { cutByInputs } from '../../../engine/graph/cut.ts';
import { rewriteProducts } from '../../../engine/graph/integer-products.ts';
import { MODEL, type ModelProto } from '../../../engine/graph/onnx-proto.ts';
import { findEncoderPlaces, withCaches, withStates } from '../../../engine/graph/streaming-encoder.ts';
import { smallGraph } from '../../engine/graph/small-graph.ts';
import type { FuzzTarget } from '../fuzz.ts';

const FIXTURES = join(import.meta.dirname, '../../../fixtures/models');
const fixture = (path: string) => readFileSync(join(FIXTURES, path));

/** Whatever graph a folder has: what is made of it can be read again, or it is refused with a word of why. */
export const target: FuzzTarget = {
  name: 'graph-rewriting',
  seeds: [
    smallGraph(),
    fixture('moonshine-streaming/onnx/encoder.onnx'),
    fixture('parakeet-tdt/int8/decoder_joint-model.int8.onnx'),
  ],
  run(input) {
    const bytes = Uint8Array.from(input);
    const model = tryRead(() => decode<ModelProto>(MODEL, bytes));
    const graph = model?.graph;
    if (model === null || graph === undefined) return;
    const { node: nodes, input: inputs, output: outputs } = graph;
    const constants = new Map(graph.initializer.map((constant) => [constant.name ?? '', constant] as const));
    const { opsetImport } = model;
    const file = { path: '/m', irVersion: 8n, opsetImport, nodes, constants, inputs, outputs, metadata: new Map() };
    const rewritten = rewriteProducts(file, 'int8');
    for (const part of cutByInputs(rewritten, [inputs[0]?.name ?? '']))
      assert.ok(part.nodes.every((node) => rewritten.nodes.includes(node)));
    const places = tryRead(() => findEncoderPlaces(bytes));
    if (places === null) return;
    decode(MODEL, withStates(places));
    const sights = places.layers.map(() => ({ left: 16, right: 4 }));
    decode(MODEL, withCaches(places, sights));
  },
};

function tryRead<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    assert.ok(error instanceof Error && !(error instanceof RangeError) && !(error instanceof TypeError), String(error));
    return null;
  }
}
