/** The engines alone, without a gateway around them. */
import { systemClock } from '../../src/clock.ts';
import { Link } from '../../src/link/link.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { packagePath } from '../../src/paths.ts';

/** Starts `workers` engine processes with the embedded models; resolves when the first is ready. The caller closes it. */
export async function startLink(workers: number): Promise<Link> {
  const link = new Link({
    engineSettings: { asrModel: 'moonshine-tiny', vadModel: 'silero', executionProvider: 'cpu', cudaDevice: 0, threads: 1 },
    workers,
    idleMs: 0,
    entry: packagePath('dist', 'engine', 'main.js'),
    clock: systemClock,
    log: createLog('warn'),
    metrics: new Metrics(),
    onRefused: (message) => process.stderr.write(`${message}\n`),
  });
  await link.start();
  return link;
}
