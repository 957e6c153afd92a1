/**
 * Which files of a folder make a Whisper model, by their names. Our exporter's folders have two graphs without a fixed
 * window; the public ones those of Hugging Face optimum, often in a folder `onnx` and in several kinds of weights.
 * https://huggingface.co/onnx-community
 */

/** The kinds of weights of a public folder, as their files' names end. */
const KINDS = {
  _quantized: '8 bits',
  _int8: '8 bits',
  _uint8: '8 bits',
  '': 'float',
  _fp16: '16 bits',
  _q4: '4 bits',
  _q4f16: '4 bits',
  _bnb4: '4 bits',
} as const;
type Ending = keyof typeof KINDS;

/** The best ones first. Some folders' files of 16 bits are broken, and a CPU takes them apart for each product. */
const PREFERRED: Readonly<Record<'cpu' | 'cuda', readonly Ending[]>> = {
  cpu: ['_quantized', '_int8', '_uint8', '', '_q4', '_fp16', '_q4f16', '_bnb4'],
  cuda: ['', '_fp16', '_q4', '_q4f16', '_bnb4', '_quantized', '_int8', '_uint8'],
};

const PUBLISHED_ENCODER = 'encoder_model';
const PUBLISHED_DECODER = 'decoder_model_merged';
const PUBLISHED_FOLDERS = ['', 'onnx/'];
const OUR_ENCODER = 'encoder_cross.onnx';
const OUR_DECODER = 'decoder_step.onnx';

/** The file that says the shape of the model. */
export const CONFIG_FILE = 'config.json';
/** What it is to suppress, and which heads follow the speech; it need not be there. */
export const GENERATION_FILE = 'generation_config.json';
/** The tokens in one file, or in the first two of three. */
export const TOKENIZER_FILE = 'tokenizer.json';
export const VOCABULARY_FILES = ['vocab.json', 'merges.txt', 'added_tokens.json'] as const;

/** The graphs of a folder. */
export interface WhisperLayout {
  /** `window`: the encoder takes 30 s, and the decoder has two branches. `free`: our exporter's. */
  readonly kind: 'window' | 'free';
  /** Paths from the folder. */
  readonly encoder: string;
  readonly decoder: string;
  /** The kind of weights of a public folder's decoder; null = the graphs know. */
  readonly weights: (typeof KINDS)[Ending] | null;
}

/** The layout that `files` are in, with the weights that are best for a device; null = in none. */
export function findLayout(files: readonly string[], provider: 'cpu' | 'cuda' = 'cpu'): WhisperLayout | null {
  if (!hasTexts(files)) return null;
  if (files.includes(OUR_ENCODER) && files.includes(OUR_DECODER))
    return { kind: 'free', encoder: OUR_ENCODER, decoder: OUR_DECODER, weights: null };
  const [encoder, decoder] = [PUBLISHED_ENCODER, PUBLISHED_DECODER].map((graph) => findGraph(files, graph, provider));
  if (encoder === undefined || decoder === undefined) return null;
  return { kind: 'window', encoder: encoder.file, decoder: decoder.file, weights: KINDS[decoder.ending] };
}

/** The files of `names` that such a folder is opened with, and what is missing. */
export function findWhisperFiles(names: readonly string[]): {
  readonly files: readonly string[];
  readonly missing: readonly string[];
} {
  const texts = [CONFIG_FILE, GENERATION_FILE, TOKENIZER_FILE, ...VOCABULARY_FILES].filter((name) =>
    names.includes(name),
  );
  const isOurs = names.includes(OUR_ENCODER) || names.includes(OUR_DECODER);
  const ours = [OUR_ENCODER, OUR_DECODER].filter((name) => names.includes(name));
  const published = [PUBLISHED_ENCODER, PUBLISHED_DECODER].map((graph) => findGraph(names, graph, 'cpu')?.file);
  const graphs = isOurs ? ours : published.filter((name) => name !== undefined);
  const wanted = isOurs ? [OUR_ENCODER, OUR_DECODER] : [`${PUBLISHED_ENCODER}.onnx`, `${PUBLISHED_DECODER}.onnx`];
  const lost = wanted.filter((name, index) => (isOurs ? !names.includes(name) : published[index] === undefined));
  return {
    files: [...graphs, ...texts],
    missing: [
      ...lost,
      ...(names.includes(CONFIG_FILE) ? [] : [CONFIG_FILE]),
      ...(hasTokens(names) ? [] : [`${TOKENIZER_FILE}, or ${VOCABULARY_FILES.slice(0, 2).join(' and ')}`]),
    ],
  };
}

function hasTexts(names: readonly string[]): boolean {
  return names.includes(CONFIG_FILE) && hasTokens(names);
}

function hasTokens(names: readonly string[]): boolean {
  return names.includes(TOKENIZER_FILE) || VOCABULARY_FILES.slice(0, 2).every((name) => names.includes(name));
}

function findGraph(names: readonly string[], graph: string, provider: 'cpu' | 'cuda') {
  const choices = PREFERRED[provider].flatMap((ending) =>
    PUBLISHED_FOLDERS.map((folder) => ({ ending, file: `${folder}${graph}${ending}.onnx` })),
  );
  return choices.find(({ file }) => names.includes(file));
}
