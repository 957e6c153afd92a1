/** Which files of a folder make a Parakeet TDT model, by their names. */

/** The files of a folder. */
export interface ParakeetLayout {
  readonly kind: 'istupakov' | 'sherpa';
  readonly encoder: string;
  /** Prediction and joint network in one file, or in two. */
  readonly decoders: readonly string[];
  readonly tokens: string;
}

/** Graphs without their ending, and the file with the tokens. */
const LAYOUTS = [
  { kind: 'istupakov', encoder: 'encoder-model', decoders: ['decoder_joint-model'], tokens: 'vocab.txt' },
  { kind: 'sherpa', encoder: 'encoder', decoders: ['decoder', 'joiner'], tokens: 'tokens.txt' },
] as const;

/** 8-bit weights first: on a CPU they take half the time of others, or less. */
const ENDINGS = ['.int8.onnx', '.onnx'];

/** The numbers of onnx-asr's layout, which need not be there. */
const CONFIG_FILE = 'config.json';

/** The files of `names` that such a folder is opened with, and what is missing. */
export function findParakeetFiles(names: readonly string[]): {
  readonly files: readonly string[];
  readonly missing: readonly string[];
} {
  const graphOf = (graph: string) => ENDINGS.map((ending) => graph + ending).find((name) => names.includes(name));
  const found = LAYOUTS.map(({ encoder, decoders, tokens }) => {
    const graphs = [encoder, ...decoders];
    const there = graphs.flatMap((graph) => graphOf(graph) ?? []);
    const others = [tokens, CONFIG_FILE];
    const lost = graphs.filter((graph) => graphOf(graph) === undefined);
    return {
      files: [...there, ...others.filter((name) => names.includes(name))],
      missing: [
        ...lost.map((graph) => ENDINGS.map((ending) => graph + ending).join(' or ')),
        ...(names.includes(tokens) ? [] : [tokens]),
      ],
    };
  });
  const [best = { files: [], missing: [] }] = found.sort((a, b) => a.missing.length - b.missing.length);
  return best;
}

/** The layout that `files` are in; null = in none. */
export function findLayout(files: readonly string[]): ParakeetLayout | null {
  const find = (graph: string) => ENDINGS.map((ending) => `${graph}${ending}`).find((file) => files.includes(file));
  for (const { kind, encoder, decoders, tokens } of LAYOUTS) {
    const [first, ...others] = [encoder, ...decoders].map(find);
    const there = others.filter((file) => file !== undefined);
    if (first !== undefined && there.length === decoders.length && files.includes(tokens))
      return { kind, encoder: first, decoders: there, tokens };
  }
  return null;
}
