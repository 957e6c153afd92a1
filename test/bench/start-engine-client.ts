/** Engines without a gateway. */
import type { EngineSettings } from '../../engine/contract.ts';
import { createEngineClient } from '../../src/engine-client/engine-client-factory.ts';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';

/**
 * Starts `workers` engine processes with the settings of `environment`, and with `engineSettings` in place of those
 * that an engine gets. Resolves when the first engine is ready. The caller closes the client.
 */
export async function startEngineClient(
  workers: number,
  environment: Readonly<Record<string, string>> = {},
  engineSettings: Partial<EngineSettings> = {},
): Promise<ManagedEngine> {
  const settings = readSettings({
    ENGINE_WORKERS: String(workers),
    ENGINE_IDLE_MS: '0',
    MODELS_DIR: 'none',
    ...environment,
  });
  const wiring = {
    clock: systemClock,
    log: createLog('warn'),
    metrics: new Metrics(),
    // The start fails with the same message.
    onRefused: () => undefined,
  };
  const engineClient = createEngineClient(settings, wiring, engineSettings);
  await engineClient.start();
  return engineClient;
}
