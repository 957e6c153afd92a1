/**
 * What onnxruntime can do on this machine, as one JSON line on standard output: `node dist/engine/probe.js`. For
 * `trunkline doctor`.
 */
import { env } from 'onnxruntime-common';
import { ownMachine, reportCuda } from './cuda/cuda-report.ts';
import { listSupportedBackends } from './onnxruntime.ts';

const backends = listSupportedBackends().map(({ name, bundled }) => (bundled ? name : `${name} (not bundled)`));
const cuda = reportCuda(ownMachine());
process.stdout.write(`${JSON.stringify({ version: env.versions.common, backends, cuda })}\n`);
