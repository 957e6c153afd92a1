/**
 * How a folder of Moonshine tiny or base is known, the ones that do not stream. The model table and the command line
 * read this; it opens nothing.
 */

/** What the graphs' names end in; the first one is used where both are there. */
const ENDINGS = ['.onnx', '.ort'] as const;
const GRAPHS = ['encoder_model', 'decoder_model_merged'] as const;

/** What each token writes. */
export const MOONSHINE_TOKENIZER_FILE = 'tokenizer.bin';

/** The files of `names` that such a folder is opened with, graphs first, encoder before decoder; what is missing. */
export function findMoonshineFiles(names: readonly string[]): {
  readonly files: readonly string[];
  readonly missing: readonly string[];
} {
  const graphs = GRAPHS.map((graph) => ENDINGS.map((ending) => graph + ending));
  const there = graphs.map((choices) => choices.find((name) => names.includes(name)));
  const hasTokenizer = names.includes(MOONSHINE_TOKENIZER_FILE);
  return {
    files: [...there.flatMap((name) => name ?? []), ...(hasTokenizer ? [MOONSHINE_TOKENIZER_FILE] : [])],
    missing: [
      ...graphs.filter((_, index) => there[index] === undefined).map((choices) => choices.join(' or ')),
      ...(hasTokenizer ? [] : [MOONSHINE_TOKENIZER_FILE]),
    ],
  };
}

/** The language in the publisher's name of such a folder, e.g. `es` of `base-es`; null = its name says nothing. */
export function languageOfMoonshine(folder: string): string | null {
  return /(?:^|[\\/-])(?:tiny|base)-([a-z]{2})$/.exec(folder)?.[1] ?? null;
}
