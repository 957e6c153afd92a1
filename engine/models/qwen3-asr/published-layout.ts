/**
 * Which files of a folder make a Qwen3-ASR model in one of the two layouts that others publish, by their names: that of
 * andrewleech/qwen3-asr-onnx, whose decoder is split into a graph for the prompt and one for each token, and that of
 * sherpa-onnx, whose decoder has a cache of one length. https://github.com/andrewleech/qwen3-asr-onnx,
 * https://k2-fsa.github.io/sherpa/onnx/qwen3-asr/
 */

/** The kinds of weights that are published, the quickest on a CPU first. */
const WEIGHTS = ['int4', 'int8', 'f32'] as const;

/** How many bits a weight has. */
export type PublishedWeights = (typeof WEIGHTS)[number];

/** The files of a folder with a split decoder. */
interface SplitLayout {
  readonly kind: 'split';
  readonly weights: PublishedWeights;
  readonly encoder: string;
  readonly prompt: string;
  readonly step: string;
  /** Other kinds of weights that are there as well. */
  readonly others: readonly PublishedWeights[];
}

/** The files of a folder of sherpa-onnx. */
interface StaticLayout {
  readonly kind: 'static';
  readonly weights: PublishedWeights;
  readonly convolutions: string;
  readonly encoder: string;
  readonly decoder: string;
  readonly others: readonly PublishedWeights[];
}

/** The files of a published folder. */
export type PublishedLayout = SplitLayout | StaticLayout;

/** Those of the split layout beside its graphs. */
export const SPLIT_FILES = {
  embeddings: 'embed_tokens.bin',
  tokenizer: 'tokenizer.json',
  config: 'config.json',
} as const;

/** Those of sherpa-onnx beside its graphs. */
export const STATIC_FILES = {
  convolutions: 'conv_frontend.onnx',
  vocabulary: 'tokenizer/vocab.json',
  merges: 'tokenizer/merges.txt',
  tokenizerConfig: 'tokenizer/tokenizer_config.json',
} as const;

/** Files that are there, and those that are not. */
export interface FoundFiles {
  readonly files: readonly string[];
  readonly missing: readonly string[];
}

/** The layout that `names`, the files of a folder, are in; null = in none. */
export function findPublishedLayout(names: readonly string[]): PublishedLayout | null {
  return findSplit(names) ?? findStatic(names);
}

/** The files of `names` that such a folder is opened with, and what is missing. */
export function findPublishedFiles(names: readonly string[]): FoundFiles {
  const found = [
    filesOf(names, ['encoder', 'decoder_init', 'decoder_step'], Object.values(SPLIT_FILES)),
    filesOf(names, ['encoder', 'decoder'], Object.values(STATIC_FILES)),
  ];
  const [best = { files: [], missing: [] }] = found.sort((a, b) => a.missing.length - b.missing.length);
  return best;
}

/** Names that the file with the weights of both decoders may have; `graph` is one of the two. */
export function sharedWeightsOf(graph: string): string {
  return graph.replace(/^decoder_(?:init|step)(.*)\.onnx$/, 'decoder_weights$1.data');
}

function findSplit(names: readonly string[]): SplitLayout | null {
  const there = WEIGHTS.filter((weights) => hasAll(names, ['decoder_init', 'decoder_step'], weights));
  const [weights, ...others] = there;
  const encoder = weights === undefined ? undefined : encoderOf(names, weights);
  if (weights === undefined || encoder === undefined || !hasFiles(names, Object.values(SPLIT_FILES))) return null;
  const [prompt, step] = [fileOf('decoder_init', weights), fileOf('decoder_step', weights)];
  return { kind: 'split', weights, encoder, prompt, step, others };
}

function findStatic(names: readonly string[]): StaticLayout | null {
  const [weights, ...others] = WEIGHTS.filter((each) => hasAll(names, ['decoder'], each));
  const encoder = weights === undefined ? undefined : encoderOf(names, weights);
  if (weights === undefined || encoder === undefined || !hasFiles(names, Object.values(STATIC_FILES))) return null;
  const { convolutions } = STATIC_FILES;
  return { kind: 'static', weights, convolutions, encoder, decoder: fileOf('decoder', weights), others };
}

/** An encoder may be there with one kind of weights alone: the published one of int4 has those of f32. */
function encoderOf(names: readonly string[], weights: PublishedWeights): string | undefined {
  const files = [weights, ...WEIGHTS].map((each) => fileOf('encoder', each));
  return files.find((file) => names.includes(file));
}

function filesOf(names: readonly string[], graphs: readonly string[], others: readonly string[]): FoundFiles {
  const there = WEIGHTS.map((weights) => graphs.map((graph) => fileOf(graph, weights)))
    .map((files) => files.filter((file) => names.includes(file)))
    .reduce((best, files) => (files.length > best.length ? files : best));
  const lost = graphs.filter((graph) => WEIGHTS.every((weights) => !names.includes(fileOf(graph, weights))));
  const beside = there.map(sharedWeightsOf);
  const found = new Set([...there, ...beside, ...others].filter((name) => names.includes(name)));
  const missing = [...lost.map((graph) => `${graph}.onnx`), ...others.filter((name) => !names.includes(name))];
  return { files: [...found], missing };
}

function hasAll(names: readonly string[], graphs: readonly string[], weights: PublishedWeights): boolean {
  return hasFiles(
    names,
    graphs.map((graph) => fileOf(graph, weights)),
  );
}

function hasFiles(names: readonly string[], files: readonly string[]): boolean {
  return files.every((file) => names.includes(file));
}

function fileOf(graph: string, weights: PublishedWeights): string {
  return weights === 'f32' ? `${graph}.onnx` : `${graph}.${weights}.onnx`;
}
