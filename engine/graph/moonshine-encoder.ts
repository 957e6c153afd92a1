/**
 * The encoder, as graphs that run one after the other: they take a waveform and return the keys and values of the
 * decoder's cross-attention for all layers. The published decoder computes those from the encoder's output; they are
 * the same for every token, so they are computed once here. There are several graphs because no urgent job can begin
 * while one runs: it then waits for a quarter of the encoder, not for all of it.
 */
import { GraphBuilder } from './builder.ts';
import { addLinear, addNorm, addRotary, addRotaryTables, addSplit, type RotaryTables } from './moonshine-layers.ts';
import {
  CROSS,
  CROSS_NAMES,
  ENCODER_LAYERS,
  FRAMES,
  FRAMES_NAME,
  HEAD_SIZE,
  HEADS,
  LAYERS,
  NEXT_FRAMES_NAME,
} from './moonshine-shape.ts';
import { addStem } from './moonshine-stem.ts';
import { tensor } from './tensors.ts';
import { type ShippedGraph, sideBySide } from './weights.ts';

/** Frames of 24 ms; far more than the longest job has. */
const POSITIONS = 4096;

interface Source {
  readonly encoder: ShippedGraph;
  readonly decoder: ShippedGraph;
}

/**
 * The graphs as the bytes of ONNX files. @throws Error when the shipped graphs are not those that the rewrite knows.
 */
export function buildEncoder(source: Source): Uint8Array[] {
  return ENCODER_LAYERS.map((_, index) => buildPart(source, index));
}

function buildPart({ encoder, decoder }: Source, index: number): Uint8Array {
  const [from, to] = ENCODER_LAYERS[index] ?? [0, 0];
  const graph = new GraphBuilder();
  const frames = index === 0 ? addFirstFrames(graph, encoder) : graph.input(FRAMES_NAME, FRAMES);
  const hidden = addLayers(graph, encoder, frames, from, to);
  if (to < LAYERS) graph.output(hidden, NEXT_FRAMES_NAME, FRAMES);
  else addCrossAttention(graph, decoder, addEncoderNorm(graph, encoder, hidden, 'last norm', 'layer_norm'));
  return graph.file(`moonshine tiny encoder, part ${index + 1} of ${ENCODER_LAYERS.length}`);
}

function addFirstFrames(graph: GraphBuilder, encoder: ShippedGraph): string {
  graph.input('input_values', { type: 'float', dims: [1, 'samples'] });
  return addStem(graph, encoder);
}

function addLayers(graph: GraphBuilder, encoder: ShippedGraph, frames: string, from: number, to: number): string {
  if (from === to) return frames;
  const rotary = addRotaryTables(graph, encoder.floats('/rotary_emb/Cast_1_output_0'), POSITIONS);
  let hidden = frames;
  for (let layer = from; layer < to; layer++) hidden = addLayer(graph, { encoder, layer, hidden, rotary });
  return hidden;
}

/** All norms of the encoder have the epsilon of its first one. */
function addEncoderNorm(
  graph: GraphBuilder,
  encoder: ShippedGraph,
  value: string,
  name: string,
  shippedName: string,
): string {
  const epsilon = encoder.floats('/layers.0/input_layernorm/Constant_1_output_0')[0] ?? Number.NaN;
  return addNorm(graph, value, name, { weights: encoder.floats(`${shippedName}.weight`), epsilon });
}

interface EncoderLayer {
  readonly encoder: ShippedGraph;
  readonly layer: number;
  readonly hidden: string;
  readonly rotary: RotaryTables;
}

function addLayer(graph: GraphBuilder, { encoder, layer, hidden, rotary }: EncoderLayer): string {
  const name = `layers.${layer}`;
  const linear = (part: string) => encoder.linear(`/${name}/${part}`);
  const floats = (part: string) => encoder.floats(`${name}.${part}`);

  const before = addEncoderNorm(graph, encoder, hidden, `${name} norm 1`, `${name}.input_layernorm`);
  const projections = sideBySide(['q', 'k', 'v'].map((part) => linear(`self_attn/${part}_proj`)));
  const [queries = '', keys = '', values = ''] = addSplit(
    graph,
    addLinear(graph, before, `${name} qkv`, projections),
    3,
  );
  const turned = [queries, keys].map((value) => addRotary(graph, value, graph.integers([0n]), rotary));
  const attended = graph.add('MultiHeadAttention', [...turned, values], {
    microsoft: true,
    attributes: { num_heads: BigInt(HEADS) },
  });
  const middle = graph.add('Add', [hidden, addLinear(graph, attended, `${name} out`, linear('self_attn/dense'))]);

  const between = addEncoderNorm(graph, encoder, middle, `${name} norm 2`, `${name}.post_attention_layernorm`);
  const wide = addLinear(graph, between, `${name} fc1`, linear('mlp/fc1'), floats('mlp.fc1.bias'));
  const active = graph.add('Gelu', [wide], { microsoft: true });
  const narrow = addLinear(graph, active, `${name} fc2`, linear('mlp/fc2'), floats('mlp.fc2.bias'));
  return graph.add('Add', [middle, narrow]);
}

/** [1, count, heads × head size] as [1, heads, count, head size]. */
function addHeads(graph: GraphBuilder, value: string): string {
  const cut = graph.add('Reshape', [value, graph.integers([0n, 0n, BigInt(HEADS), BigInt(HEAD_SIZE)])]);
  return graph.add('Transpose', [cut], { attributes: { perm: [0n, 2n, 1n, 3n] } });
}

/** One projection for all decoder layers, divided into the heads of the attention. */
function addCrossAttention(graph: GraphBuilder, decoder: ShippedGraph, hidden: string): void {
  const paths = Array.from({ length: LAYERS }, (_, layer) => `/model/decoder/layers.${layer}/encoder_attn`);
  const projections = paths.flatMap((path) => [decoder.linear(`${path}/k_proj`), decoder.linear(`${path}/v_proj`)]);
  const parts = addSplit(
    graph,
    addLinear(graph, hidden, 'cross-attention', sideBySide(projections)),
    projections.length,
  );
  const scale = graph.constant(tensor('root of scale', 'float', [], Float32Array.of(HEAD_SIZE ** -0.25)));
  for (const [index, part] of parts.entries()) {
    const isKey = index % 2 === 0;
    const heads = addHeads(graph, part);
    graph.output(isKey ? graph.add('Mul', [heads, scale]) : heads, CROSS_NAMES[index] ?? '', CROSS);
  }
}
