/** How large a model's graphs are: what a reading costs grows with the weights that are read for it. */
import type { SoundCost } from '../job-costs.ts';
import { fileBytes } from './folder-names.ts';
import { weightsBeside } from './recogniser-folders.ts';

const MILLION_BYTES = 1e6;
/** What every reading costs, however small the model. */
const JOB_MIN_MS = 2;

/** Ms of model runs for each million bytes of the graphs. */
interface CostPerMillionBytes {
  readonly perJobMs: number;
  readonly perSecondMs: number;
}

/**
 * The rough cost of a reading with `graphs`, absolute paths of files. Weights may lie in a file beside each, as ONNX
 * has them.
 */
export function costBySize(graphs: readonly string[], perMillion: CostPerMillionBytes): SoundCost {
  const millions = graphs.reduce((sum, graph) => sum + graphBytes(graph), 0) / MILLION_BYTES;
  return {
    perJobMs: JOB_MIN_MS + millions * perMillion.perJobMs,
    perSecondMs: millions * perMillion.perSecondMs,
  };
}

/** Bytes of a graph and of the weights beside it; 0 where there is none. */
export function graphBytes(graph: string): number {
  const files = new Set([graph, ...weightsBeside(graph)]);
  return [...files].reduce((sum, file) => sum + fileBytes(file), 0);
}
