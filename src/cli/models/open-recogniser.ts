/** Whether the speech engine opens a recogniser's folder, and what it understands then. */
import { createEngineClient } from '../../engine-client/engine-client-factory.ts';
import { systemClock } from '../../foundation/clock.ts';
import { createLog } from '../../foundation/log/log.ts';
import { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';

/**
 * Starts an engine process with the recogniser in `folder`, an absolute path, and ends it.
 * @returns its languages, BCP-47
 * @throws Error that says why it does not start
 */
export async function openRecogniser(folder: string, settings: Settings): Promise<readonly string[]> {
  let refusal: string | null = null;
  const engine = createEngineClient(
    { ...settings, ASR_MODEL: folder, ASR_FINAL_MODEL: '', ASR_URL: [], TTS_URL: [], ENGINE_WORKERS: 1 },
    {
      clock: systemClock,
      log: createLog('silent'),
      metrics: new Metrics(),
      onRefused: (message) => {
        refusal = message;
      },
    },
    // An engine of this role has the recogniser alone.
    { role: 'final' },
  );
  try {
    await engine.start();
    return engine.status.recogniser?.languages ?? [];
  } catch (error) {
    throw new Error(refusal ?? (error instanceof Error ? error.message : String(error)));
  } finally {
    await engine.close();
  }
}
