/** How a Moonshine streaming folder is known. The model table and the command line read this; it opens nothing. */

/** The files that every folder has beside its graphs. */
export const CONFIG_FILE = 'streaming_config.json';
export const TOKENIZER_FILE = 'tokenizer.bin';

/** What the graphs' names end in; the first one is used where both are there. */
export const GRAPH_ENDINGS = ['.onnx', '.ort'] as const;

/** The graphs that every folder has, beside the front end. */
export const GRAPHS = ['encoder', 'adapter', 'cross_kv', 'decoder_kv'] as const;

/** The front end in one graph, or in two. */
export const FRONTEND = 'frontend';
export const FRONTEND_PARTS = ['frontend.weights', 'frontend.model'] as const;

/** The decoder that also gives its attention to the speech. */
export const ATTENTION_DECODER = 'decoder_kv_with_attention';

/** Whether these are the files of such a folder, by their names. */
export function isStreamingLayout(files: readonly string[]): boolean {
  return files.includes(CONFIG_FILE) && files.includes(TOKENIZER_FILE);
}

/** The files of `names` that such a folder is opened with, and what is missing. */
export function findStreamingFiles(names: readonly string[]): {
  readonly files: readonly string[];
  readonly missing: readonly string[];
} {
  const graphOf = (graph: string) => GRAPH_ENDINGS.map((ending) => graph + ending).find((name) => names.includes(name));
  const hasParts = FRONTEND_PARTS.some((part) => graphOf(part) !== undefined);
  const graphs = [...GRAPHS, ...(hasParts ? FRONTEND_PARTS : [FRONTEND])];
  const others = [CONFIG_FILE, TOKENIZER_FILE];
  const files = [...graphs, ATTENTION_DECODER].flatMap((graph) => graphOf(graph) ?? []);
  const lost = graphs.filter((graph) => graphOf(graph) === undefined);
  return {
    files: [...files, ...others.filter((name) => names.includes(name))],
    missing: [
      ...lost.map((graph) => GRAPH_ENDINGS.map((ending) => graph + ending).join(' or ')),
      ...others.filter((name) => !names.includes(name)),
    ],
  };
}

/**
 * The language that the publisher's folder is named after, e.g. `de` in `small-streaming-de/quantized_26_08_24`; null =
 * its name says nothing.
 */
export function languageOfFolder(folder: string): string | null {
  return /(?:^|[\\/])(?:tiny|small|medium|base)-streaming-([a-z]{2,3})(?:[\\/][^\\/]*)?$/.exec(folder)?.[1] ?? null;
}
