/** Graphs that are made of the published ones, once, and kept. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CachedFiles, cachedFiles } from '../../graph/cache.ts';
import { decode } from '../../graph/codec.ts';
import { partBytes, wholePart } from '../../graph/cut.ts';
import { rewriteProducts } from '../../graph/integer-products.ts';
import { type ModelFile, modelFileOf } from '../../graph/model-file.ts';
import { MODEL, type ModelProto } from '../../graph/onnx-proto.ts';
import { findProductType } from '../../graph/product-type.ts';
import { openSession, type SessionOptions } from '../../onnx.ts';
import { env, InferenceSession } from '../../onnxruntime.ts';

/** To be increased with every change of the graphs that are made. */
const BUILDER_VERSION = 5;

const WHOLE_FILE = 'whole.onnx';

/** How graphs are made. */
export interface RewriteOptions extends SessionOptions {
  /** Folder in which they are kept. */
  readonly cacheDir: string;
  /** Is told when one has to be made. */
  readonly progress: (text: string) => void;
}

/** What is made of one published graph. */
interface Rewriting {
  /** What the graph is, for {@link RewriteOptions.progress}. */
  readonly part: string;
  /** Names of the files that are made. */
  readonly files: readonly string[];
  /** @param model the published graph, its products on weights of the type that this processor multiplies fastest */
  build(model: ModelFile, options: SessionOptions): Promise<ReadonlyMap<string, Uint8Array>>;
}

/**
 * The files that are made of a published graph, .onnx or .ort. The caller closes them.
 * @throws Error when they cannot be kept; whatever `build` throws
 */
export async function keptGraphs(file: string, options: RewriteOptions, rewriting: Rewriting): Promise<CachedFiles> {
  const { part, files, build } = rewriting;
  const products = await findProductType();
  return cachedFiles({
    cacheDir: options.cacheDir,
    name: 'moonshine-streaming',
    sources: [file],
    versions: `builder ${BUILDER_VERSION}, onnxruntime ${env.versions.common}, products of ${products}`,
    files,
    build: async (folder) => {
      options.progress(`rewriting the recogniser's ${part}, once; it is kept in ${folder}`);
      const model = modelFileOf(decode<ModelProto>(MODEL, await readGraph(file)));
      return build(rewriteProducts(model, products), options);
    },
  });
}

/** Opens a published graph with its products alone rewritten. @throws what {@link keptGraphs} throws */
export async function openWithProducts(file: string, part: string, options: RewriteOptions): Promise<InferenceSession> {
  const build = async (model: ModelFile) =>
    new Map([[WHOLE_FILE, partBytes(model, wholePart(model), () => undefined)]]);
  const kept = await keptGraphs(file, options, { part, files: [WHOLE_FILE], build });
  try {
    return await openSession(kept.paths[0] ?? '', options);
  } finally {
    await kept.close();
  }
}

/** onnxruntime's own format is written as .onnx by onnxruntime itself. */
async function readGraph(file: string): Promise<Uint8Array> {
  if (!file.endsWith('.ort')) return readFile(file);
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-graph-'));
  try {
    const optimizedModelFilePath = join(folder, WHOLE_FILE);
    const options = {
      executionProviders: ['cpu'],
      optimizedModelFilePath,
      graphOptimizationLevel: 'disabled',
    } as const;
    await (await InferenceSession.create(file, options)).release();
    return await readFile(optimizedModelFilePath);
  } finally {
    await rm(folder, { recursive: true });
  }
}
