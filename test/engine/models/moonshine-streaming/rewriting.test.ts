import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decode, encode } from '../../../../engine/graph/codec.ts';
import { MODEL, type ModelProto, type NodeProto } from '../../../../engine/graph/onnx-proto.ts';
import { loadMoonshineStreaming } from '../../../../engine/models/moonshine-streaming/load.ts';
import { packagePath } from '../../../../src/foundation/folders/paths.ts';
import { arithmeticClip } from '../../../e2e/parity/arithmetic-clip.ts';
import { finish } from '../../speech.ts';
import { STREAMING } from './options.ts';

const PUBLISHED = packagePath('fixtures', 'models', 'moonshine-streaming', 'onnx');
const SPOKEN = arithmeticClip(7, 32_000);

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-streaming-'));
  cpSync(PUBLISHED, folder, { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Reads an input of the decoder through two nodes that change nothing, which no published graph has. */
function hide(input: string): void {
  const path = join(folder, 'decoder_kv.onnx');
  const model = decode<ModelProto>(MODEL, readFileSync(path));
  const { graph } = model;
  if (graph === undefined) throw new Error('a model without a graph');
  const negate = (from: string, to: string): NodeProto => {
    return { name: to, opType: 'Neg', domain: '', input: [from], output: [to], attribute: [] };
  };
  const seen = graph.node.map((node) => ({
    ...node,
    input: node.input.map((name) => (name === input ? `${input} again` : name)),
  }));
  const node = [negate(input, `${input} less`), negate(`${input} less`, `${input} again`), ...seen];
  writeFileSync(path, encode(MODEL, { ...model, graph: { ...graph, node } }));
}

async function read(graphs: 'rewritten' | 'shipped') {
  const { asr, warning } = await loadMoonshineStreaming(folder, { ...STREAMING, graphs });
  const { result } = await finish(asr.transcribe(SPOKEN, []));
  return { tokens: result.tokens, warning };
}

describe('a decoder that is built otherwise', () => {
  it('is given what it takes apart in a way that is not known', async () => {
    const { tokens } = await read('shipped');
    hide('out_k_cross');
    expect(tokens.length).toBeGreaterThan(4);
    expect(await read('rewritten')).toEqual({ tokens, warning: null });
  });

  it('runs as it is where there is nothing to take off, with a warning', async () => {
    const { tokens } = await read('shipped');
    hide('out_k_cross');
    hide('out_v_cross');
    const rewritten = await read('rewritten');
    expect(rewritten.tokens).toEqual(tokens);
    expect(rewritten.warning).toMatch(
      /^recognition takes longer, for not all .*: decoder: nothing takes the speech apart$/,
    );
  });
});
