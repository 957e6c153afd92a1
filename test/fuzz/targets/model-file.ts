import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cutByWeights } from '../../../engine/graph/cut.ts';
import { type ModelFile, readModelFile } from '../../../engine/graph/model-file.ts';
import { smallGraph } from '../../engine/graph/small-graph.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** A file is refused, or its graph can be cut: no node is lost that an output needs. */
export const target: FuzzTarget = {
  name: 'model-file',
  seeds: [smallGraph(), Buffer.from([0x08, 0x08]), Buffer.from([0x3a, 0xff, 0xff, 0xff, 0xff, 0x7f])],
  run(input) {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-fuzz-'));
    try {
      writeFileSync(join(folder, 'model.onnx'), input);
      check(join(folder, 'model.onnx'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

function check(path: string): void {
  let model: ModelFile;
  try {
    model = readModelFile(path);
  } catch (error) {
    assert.match((error as Error).message, / is no ONNX file: /);
    return;
  }
  const made = new Set(cutByWeights(model, 2).flatMap(({ nodes }) => nodes));
  assert.ok([...made].every((node) => model.nodes.includes(node)));
}
