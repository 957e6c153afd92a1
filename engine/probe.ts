/**
 * What onnxruntime can do on this machine, as one JSON line on standard output: `node dist/engine/probe.js`. For
 * `trunkline doctor`.
 */
import { env } from 'onnxruntime-common';
import { requireCuda } from './onnx.ts';
import { listSupportedBackends } from './onnxruntime.ts';
import { Refusal } from './refusal.ts';

function findCudaProblem(): string | null {
  try {
    requireCuda();
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

const backends = listSupportedBackends().map(({ name, bundled }) => (bundled ? name : `${name} (not installed)`));
process.stdout.write(`${JSON.stringify({ version: env.versions.common, backends, cudaProblem: findCudaProblem() })}\n`);
