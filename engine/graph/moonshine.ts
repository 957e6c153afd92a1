/**
 * The rewritten Moonshine graphs as files: from the cache, or built from the shipped graphs and stored there. See
 * docs/internals/graphs.md.
 */
import { readFile } from 'node:fs/promises';
import { env } from '../onnxruntime.ts';
import { cachedFiles } from './cache.ts';
import { buildDecoder } from './moonshine-decoder.ts';
import { buildEncoder } from './moonshine-encoder.ts';
import { ENCODER_LAYERS } from './moonshine-shape.ts';
import { findProductType } from './product-type.ts';
import { ShippedGraph, type WeightType } from './weights.ts';

/** To be increased with every change of the graphs that are built; a test compares it with them. */
export const BUILDER_VERSION = 9;

const DECODER = 'decoder.onnx';
const encoderPart = (index: number) => `encoder-${index + 1}.onnx`;

/** Paths of the shipped graphs. */
export interface ShippedFiles {
  readonly encoder: string;
  readonly decoder: string;
}

/** Paths of the rewritten graphs, which are open as the cache's files are. The caller closes them. */
export interface RewrittenFiles {
  /** In the order in which they run. */
  readonly encoder: readonly string[];
  readonly decoder: string;
  close(): Promise<void>;
}

/**
 * Paths of the rewritten graphs.
 * @param progress is called when they have to be built.
 * @throws Error when the shipped graphs are not those that the rewrite knows, when the cache cannot be written, or when
 * other users can write it.
 */
export async function moonshineFiles(options: {
  shipped: ShippedFiles;
  cacheDir: string;
  progress: (text: string) => void;
}): Promise<RewrittenFiles> {
  const { shipped, cacheDir, progress } = options;
  const products = await findProductType();
  const { paths, close } = await cachedFiles({
    cacheDir,
    name: 'moonshine-tiny',
    sources: [shipped.encoder, shipped.decoder],
    versions: `builder ${BUILDER_VERSION}, onnxruntime ${env.versions.common}, ${products}`,
    files: [DECODER, ...ENCODER_LAYERS.map((_, index) => encoderPart(index))],
    build: (folder) => {
      progress(
        `rewriting the recogniser's graphs for speed, once, which takes a few seconds; they are kept in ${folder}`,
      );
      return buildGraphs(shipped, products);
    },
  });
  const [decoder = '', ...encoder] = paths;
  return { encoder, decoder, close };
}

/**
 * The rewritten graphs by file name, their products on weights of the type `products`. @throws Error when the shipped
 * graphs are not those that the rewrite knows.
 */
export async function buildGraphs(
  shipped: ShippedFiles,
  products: WeightType,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const encoder = ShippedGraph.read(await readFile(shipped.encoder), products);
  const merged = await readFile(shipped.decoder);
  // Only the uncached branch has the projections of the cross-attention; the cached one has every other layer.
  const uncached = ShippedGraph.readBranch(merged, 'else_branch', products);
  const cached = ShippedGraph.readBranch(merged, 'then_branch', products);
  const parts = buildEncoder({ encoder, decoder: uncached });
  return new Map([
    [DECODER, buildDecoder(cached)],
    ...parts.map((bytes, index) => [encoderPart(index), bytes] as const),
  ]);
}
