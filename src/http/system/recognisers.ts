/** Which recognisers there are, how they are, and how often the first one read for the second. */
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { GatewayHealth } from '../health.ts';
import { readsOf, recogniserNames } from '../models.ts';
import type { SystemAnswer } from './schema.ts';

type RecogniserAnswer = SystemAnswer['recognisers'][number];
type FallbackAnswer = SystemAnswer['fallbacks'][number];

/** Those of the settings, as they are now. */
export function describeRecognisers(
  settings: Pick<Settings, 'ASR_MODEL' | 'ASR_FINAL_MODEL'>,
  { engine, finalEngine, recognisers }: Pick<GatewayHealth, 'engine' | 'finalEngine' | 'recognisers'>,
): RecogniserAnswer[] {
  const names = recogniserNames(settings);
  return [...names].flatMap(([role, name]) => {
    const pool = role === 'live' ? engine : finalEngine;
    if (pool === null) return [];
    const loaded = recognisers[role];
    return {
      role,
      reads: readsOf(role, names),
      name: loaded?.name ?? name,
      languages: loaded === null ? null : [...loaded.languages],
      state: STATES[pool.state],
      ready: pool.ready,
      workers: pool.workers,
    };
  });
}

const STATES = { ready: 'ready', starting: 'starting', stopped: 'stopped', failed: 'missing' } as const;

/** Those that have happened. */
export async function describeFallbacks({
  finalFallbacks,
}: Pick<Metrics, 'finalFallbacks'>): Promise<FallbackAnswer[]> {
  const { values } = await finalFallbacks.get();
  return values.map(({ labels, value }) => ({ reason: labels['reason'] as FallbackAnswer['reason'], count: value }));
}
