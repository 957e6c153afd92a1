/**
 * The decoder graph: tokens in, tokens out. A loop runs the decoder body. Its first turn takes the last certain token
 * and the draft that follows it, keeps the part of the draft that the model agrees with and adds the next token. Every
 * further turn adds one token. The graph chooses the most likely token itself, so it never returns the 32768 logits.
 * The loop ends at the end token or after `max_steps` turns. The graph returns its caches for the next run, whose
 * `input_ids` are the last token alone. It also returns the log probability of each token that it kept or added, and
 * the queries of the last turn in one layer; they show where in the speech each token was found (see
 * moonshine-alignment.ts). Hot words need the logits of the last turn, which are there anyway.
 */
import { GraphBuilder, type ValueType } from './builder.ts';
import {
  addLinear,
  addNorm,
  addRotary,
  addRotaryTables,
  addSplit,
  type RotaryTables,
  SLICE_END,
} from './moonshine-layers.ts';
import {
  ALIGNING_LAYER,
  CROSS,
  CROSS_NAMES,
  END_TOKEN,
  HEAD_SIZE,
  HEADS,
  HIDDEN_SIZE,
  LAYERS,
  PAST_NAMES,
  PRESENT_NAMES,
  VOCABULARY_SIZE,
} from './moonshine-shape.ts';
import { DATA_TYPE } from './onnx-proto.ts';
import { tensor } from './tensors.ts';
import { type QuantizedMatrix, type ShippedGraph, sideBySide, transposed } from './weights.ts';

/** Tokens of a text; far more than the longest stretch can hold. */
const POSITIONS = 1024;

const EMBEDDING = 'model.decoder.embed_tokens.weight_merged_0';
const ONE_TOKEN: ValueType = { type: 'int64', dims: [1] };
const TOKENS: ValueType = { type: 'int64', dims: [1, 'tokens'] };
const PAST: ValueType = { type: 'float', dims: [1, HEADS, 'past', HEAD_SIZE] };
const PRESENT: ValueType = { type: 'float', dims: [1, HEADS, 'present', HEAD_SIZE] };
const LOGPROBS: ValueType = { type: 'float', dims: [1, 'certain'] };
const LOGITS: ValueType = { type: 'float', dims: [1, 'asked', VOCABULARY_SIZE] };
const QUERIES: ValueType = { type: 'float', dims: [1, 'asked', HIDDEN_SIZE] };

/** The best tokens of each position, which the head computes a second time. */
const CANDIDATES = 4n;

/**
 * The decoder graph as the bytes of an ONNX file. @throws Error when the shipped graph is not the one that the rewrite
 * knows.
 */
export function buildDecoder(decoder: ShippedGraph): Uint8Array {
  const graph = new GraphBuilder();
  graph.input('max_steps', { type: 'int64', dims: [] });
  graph.input('input_ids', TOKENS);
  for (const name of PAST_NAMES) graph.input(name, PAST);
  for (const name of CROSS_NAMES) graph.input(name, CROSS);
  const body = buildBody(graph.body(), decoder);
  const always = graph.constant(tensor('true', 'bool', [], Uint8Array.of(1)));
  const noQueries = graph.constant(tensor('no queries', 'float', [1, 0, HIDDEN_SIZE], new Float32Array(0)));
  const noLogprobs = graph.constant(tensor('no logprobs', 'float', [1, 0], new Float32Array(0)));
  const noLogits = graph.constant(tensor('no logits', 'float', [1, 0, VOCABULARY_SIZE], new Float32Array(0)));
  const carried = ['input_ids', ...PAST_NAMES, noLogprobs, noQueries, noLogits];
  const results = graph.addMany('Loop', ['max_steps', always, ...carried], carried.length + 2, {
    attributes: { body },
  });
  for (const [index, name] of PRESENT_NAMES.entries()) graph.output(results[index + 1] ?? '', name, PRESENT);
  graph.output(results.at(-5) ?? '', 'logprobs', LOGPROBS);
  graph.output(results.at(-4) ?? '', 'queries', QUERIES);
  graph.output(results.at(-3) ?? '', 'logits', LOGITS);
  graph.output(results.at(-2) ?? '', 'tokens', { type: 'int64', dims: ['steps', 1] });
  graph.output(results.at(-1) ?? '', 'accepted', { type: 'int64', dims: ['steps', 1] });
  return graph.file('moonshine tiny decoder');
}

/** One turn of the loop. */
function buildBody(graph: GraphBuilder, decoder: ShippedGraph) {
  graph.input('turn', { type: 'int64', dims: [] });
  graph.input('goes on', { type: 'bool', dims: [] });
  const tokens = graph.input('turn.tokens', TOKENS);
  const past = PAST_NAMES.map((name) => graph.input(`turn.${name}`, PAST));
  const before = graph.input('turn.logprobs', LOGPROBS);
  graph.input('turn.queries', QUERIES);
  graph.input('turn.logits', LOGITS);

  const start = graph.add('Shape', [past[0] ?? ''], { attributes: { start: 2n, end: 3n } });
  const { likeliest, logprobs, present, queries, logits } = addTransformer(graph, { decoder, tokens, past, start });
  const accepted = addAgreement(graph, tokens, likeliest);
  const next = graph.add('Reshape', [
    graph.add('Gather', [likeliest, accepted], { attributes: { axis: 1n } }),
    graph.integers([1n]),
  ]);
  const kept = graph.add('Add', [accepted, graph.integers([1n])]);
  const certain = graph.add('Add', [start, kept]);
  const isEnd = graph.add('Equal', [next, graph.integers([BigInt(END_TOKEN)])]);

  graph.output(graph.add('Squeeze', [graph.add('Not', [isEnd])]), 'turn.goes on', { type: 'bool', dims: [] });
  graph.output(graph.add('Unsqueeze', [next, graph.integers([0n])]), 'turn.next tokens', TOKENS);
  for (const [index, cache] of present.entries()) {
    const cropped = graph.add('Slice', [cache, graph.integers([0n]), certain, graph.integers([2n])]);
    graph.output(cropped, `turn.${PRESENT_NAMES[index]}`, PRESENT);
  }
  const added = graph.add('Slice', [logprobs, graph.integers([0n]), kept, graph.integers([1n])]);
  graph.output(graph.add('Concat', [before, added], { attributes: { axis: 1n } }), 'turn.next logprobs', LOGPROBS);
  graph.output(queries, 'turn.next queries', QUERIES);
  graph.output(logits, 'turn.next logits', LOGITS);
  graph.output(next, 'turn.token', ONE_TOKEN);
  graph.output(accepted, 'turn.accepted', ONE_TOKEN);
  return graph.graph('turn');
}

/**
 * How many tokens at the beginning of the draft (all tokens but the first) the model would have chosen itself; a
 * vector of one.
 */
function addAgreement(graph: GraphBuilder, tokens: string, likeliest: string): string {
  const axis = graph.integers([1n]);
  const said = graph.add('Slice', [likeliest, graph.integers([0n]), graph.integers([-1n]), axis]);
  const drafted = graph.add('Slice', [tokens, graph.integers([1n]), graph.integers([SLICE_END]), axis]);
  const differs = graph.add('Not', [graph.add('Equal', [said, drafted])]);
  const differing = graph.add('CumSum', [addCast(graph, differs, 'int32'), graph.integers(1n)]);
  const agrees = graph.add('Equal', [differing, graph.constant(tensor('none differ', 'int32', [], Int32Array.of(0)))]);
  return graph.add('ReduceSum', [addCast(graph, agrees, 'int64'), axis], { attributes: { keepdims: 0n } });
}

function addCast(graph: GraphBuilder, value: string, type: keyof typeof DATA_TYPE): string {
  return graph.add('Cast', [value], { attributes: { to: BigInt(DATA_TYPE[type]) } });
}

interface Transformer {
  readonly decoder: ShippedGraph;
  /** [1, count] */
  readonly tokens: string;
  readonly past: readonly string[];
  /** Position of the first token, a vector of one. */
  readonly start: string;
}

/** After each position the likeliest token and its log probability, both [1, count], and the logits of all tokens. */
interface Likeliest {
  readonly likeliest: string;
  readonly logprobs: string;
  /** [1, count, vocabulary], computed in 8-bit integers. */
  readonly logits: string;
}

interface Transformed extends Likeliest {
  readonly present: readonly string[];
  readonly queries: string;
}

/**
 * The likeliest token after each of `tokens` with its log probability, the caches that include `tokens`, and the
 * cross-attention queries of {@link ALIGNING_LAYER}.
 */
function addTransformer(graph: GraphBuilder, { decoder, tokens, past, start }: Transformer): Transformed {
  const embedding = decoder.embedding(EMBEDDING);
  const rotary = addRotaryTables(graph, decoder.floats('/model/decoder/rotary_emb/Cast_1_output_0'), POSITIONS);
  const epsilon = decoder.floats('/model/decoder/layers.0/input_layernorm/Constant_1_output_0')[0] ?? Number.NaN;
  const lookUp = addEmbedding(graph, embedding);
  let hidden = lookUp(tokens);
  const noBias = addNoBias(graph, tokens);
  const present: string[] = [];
  let queries = '';
  for (let layer = 0; layer < LAYERS; layer++) {
    const added = addLayer(graph, {
      decoder,
      layer,
      hidden,
      past: past.slice(2 * layer, 2 * layer + 2),
      start,
      noBias,
      rotary,
      epsilon,
    });
    hidden = added.hidden;
    present.push(...added.present);
    if (layer === ALIGNING_LAYER) queries = added.queries;
  }
  hidden = addNorm(graph, hidden, 'last norm', {
    weights: decoder.floats('model.decoder.norm.weight_merged_0'),
    epsilon,
  });
  return { ...addHead(graph, hidden, { decoder, embedding, lookUp }), present, queries };
}

function addEmbedding(graph: GraphBuilder, { rows, columns, bytes, scales, zeroPoints }: QuantizedMatrix): LookUp {
  const table = graph.constant(tensor('embedding', 'uint8', [rows, columns], bytes));
  const scale = graph.constant(tensor('embedding scale', 'float', [], scales));
  const zeroPoint = graph.constant(tensor('embedding zero point', 'uint8', [], zeroPoints));
  return (tokens) => graph.add('DequantizeLinear', [graph.add('Gather', [table, tokens]), scale, zeroPoint]);
}

/** Turns token numbers of any shape into rows of the embedding, in float. */
type LookUp = (tokens: string) => string;

interface Head {
  readonly decoder: ShippedGraph;
  readonly embedding: QuantizedMatrix;
  readonly lookUp: LookUp;
}

/**
 * The likeliest token after each position. The logits of all tokens are computed in 8-bit integers, which is fast, and
 * those of the best few again in float, as the shipped head computes all: otherwise the rounding of activations to 8
 * bits would decide between tokens that are almost equally likely. Probabilities are of the former: of several ways,
 * `LogSoftmax` takes the least time.
 */
function addHead(graph: GraphBuilder, hidden: string, { decoder, embedding, lookUp }: Head): Likeliest {
  const rough = addLinear(graph, hidden, 'head', decoder.forProduct(transposed(embedding)));
  const [, candidates = ''] = graph.addMany('TopK', [rough, graph.integers([CANDIDATES])], 2, {
    attributes: { axis: -1n },
  });
  const column = graph.add('Unsqueeze', [hidden, graph.integers([-1n])]);
  const exact = graph.add('MatMul', [lookUp(candidates), column]);
  const best = graph.add('ArgMax', [exact], { attributes: { axis: 2n, keepdims: 0n } });
  const chosen = graph.add('GatherElements', [candidates, best], { attributes: { axis: 2n } });
  const all = graph.add('LogSoftmax', [rough], { attributes: { axis: -1n } });
  const logprobs = graph.add('GatherElements', [all, chosen], { attributes: { axis: 2n } });
  const [likeliest = '', squeezed = ''] = [chosen, logprobs].map((value) =>
    graph.add('Squeeze', [value, graph.integers([2n])]),
  );
  return { likeliest, logprobs: squeezed, logits: rough };
}

interface DecoderLayer {
  readonly decoder: ShippedGraph;
  readonly layer: number;
  readonly hidden: string;
  /** Keys and values of the tokens before. */
  readonly past: readonly string[];
  readonly start: string;
  /** Zeros [1, 1, count, frames]. */
  readonly noBias: string;
  readonly rotary: RotaryTables;
  readonly epsilon: number;
}

function addLayer(
  graph: GraphBuilder,
  at: DecoderLayer,
): { hidden: string; present: readonly string[]; queries: string } {
  const { decoder, layer, hidden, epsilon } = at;
  const name = `layers.${layer}`;
  const norm = (part: string) => decoder.floats(`model.decoder.${name}.${part}.weight_merged_0`);

  const self = addSelfAttention(
    graph,
    at,
    addNorm(graph, hidden, `${name} norm 1`, { weights: norm('input_layernorm'), epsilon }),
  );
  const afterSelf = graph.add('Add', [hidden, self.attended]);
  const cross = addCrossAttention(
    graph,
    at,
    addNorm(graph, afterSelf, `${name} norm 2`, { weights: norm('post_attention_layernorm'), epsilon }),
  );
  const afterCross = graph.add('Add', [afterSelf, cross.attended]);
  const narrow = addGatedLinear(
    graph,
    at,
    addNorm(graph, afterCross, `${name} norm 3`, { weights: norm('final_layernorm'), epsilon }),
  );
  return { hidden: graph.add('Add', [afterCross, narrow]), present: self.present, queries: cross.queries };
}

function addSelfAttention(
  graph: GraphBuilder,
  at: DecoderLayer,
  value: string,
): { attended: string; present: readonly string[] } {
  const { decoder, layer, past, start, rotary } = at;
  const path = `/model/decoder/layers.${layer}/self_attn`;
  const projections = sideBySide(['q', 'k', 'v'].map((part) => decoder.linear(`${path}/${part}_proj`)));
  const [queries = '', keys = '', values = ''] = addSplit(
    graph,
    addLinear(graph, value, `layers.${layer} qkv`, projections),
    3,
  );
  const turned = [queries, keys].map((part) => addRotary(graph, part, start, rotary));
  const [attended = '', ...present] = graph.addMany('MultiHeadAttention', [...turned, values, '', '', '', ...past], 3, {
    microsoft: true,
    attributes: { num_heads: BigInt(HEADS), unidirectional: 1n },
  });
  return { attended: addLinear(graph, attended, `layers.${layer} out`, decoder.linear(`${path}/dense`)), present };
}

/**
 * Attention over the speech. Queries and keys are scaled separately, as in the published graph. The bias of zeros keeps
 * `MultiHeadAttention` from processing the keys in blocks, whose sums would be added in another order.
 */
function addCrossAttention(
  graph: GraphBuilder,
  { decoder, layer, noBias }: DecoderLayer,
  value: string,
): { attended: string; queries: string } {
  const path = `/model/decoder/layers.${layer}/encoder_attn`;
  const scale = graph.constant(tensor('root of scale', 'float', [], Float32Array.of(HEAD_SIZE ** -0.25)));
  const queries = graph.add('Mul', [
    addLinear(graph, value, `layers.${layer} cross q`, decoder.linear(`${path}/q_proj`)),
    scale,
  ]);
  const speech = CROSS_NAMES.slice(2 * layer, 2 * layer + 2);
  const attended = graph.add('MultiHeadAttention', [queries, ...speech, '', '', noBias], {
    microsoft: true,
    attributes: { num_heads: BigInt(HEADS), scale: 1 },
  });
  return {
    attended: addLinear(graph, attended, `layers.${layer} cross out`, decoder.linear(`${path}/dense`)),
    queries,
  };
}

/** Zeros for every pair of a token and a frame. */
function addNoBias(graph: GraphBuilder, tokens: string): string {
  const count = graph.add('Shape', [tokens], { attributes: { start: 1n } });
  const frames = graph.add('Shape', [CROSS_NAMES[0] ?? ''], { attributes: { start: 2n, end: 3n } });
  return graph.add('ConstantOfShape', [
    graph.add('Concat', [graph.integers([1n, 1n]), count, frames], { attributes: { axis: 0n } }),
  ]);
}

/** SwiGLU: the second half of the wide layer gates the first. */
function addGatedLinear(graph: GraphBuilder, { decoder, layer }: DecoderLayer, value: string): string {
  const path = `/model/decoder/layers.${layer}/mlp`;
  const bias = (part: string) => decoder.floats(`model.decoder.layers.${layer}.mlp.${part}.bias_merged_0`);
  const wide = addLinear(graph, value, `layers.${layer} up`, decoder.linear(`${path}/up_proj`), bias('up_proj'));
  const [values = '', gate = ''] = addSplit(graph, wide, 2);
  const opened = graph.add('QuickGelu', [gate], { microsoft: true, attributes: { alpha: 1 } });
  const gated = graph.add('Mul', [opened, values]);
  return addLinear(graph, gated, `layers.${layer} down`, decoder.linear(`${path}/down_proj`), bias('down_proj'));
}
