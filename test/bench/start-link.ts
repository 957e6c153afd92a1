/** The engines alone, without a gateway around them. */
import { systemClock } from '../../src/clock.ts';
import { readSettings } from '../../src/config.ts';
import { createLink } from '../../src/link/from-settings.ts';
import type { Link } from '../../src/link/link.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';

/** Starts `workers` engine processes as the settings say, those of `environment` among them; resolves when the first is ready. The caller closes it. */
export async function startLink(workers: number, environment: Readonly<Record<string, string>> = {}): Promise<Link> {
  const settings = readSettings({ ENGINE_WORKERS: String(workers), ENGINE_IDLE_MS: '0', ...environment });
  const wiring = { clock: systemClock, log: createLog('warn'), metrics: new Metrics() };
  const link = createLink(settings, { ...wiring, onRefused: (message) => process.stderr.write(`${message}\n`) });
  await link.start();
  return link;
}
