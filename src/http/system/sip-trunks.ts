/** How the SIP trunks are: registered, and there. */
import { z } from 'zod';
import type { Metrics } from '../../foundation/metrics.ts';

/** One trunk, as the API shows it. */
export const sipTrunkSchema = z.object({
  name: z.string().describe('As in SIP_TRUNKS; `default` is that of SIP_REGISTRAR or SIP_TRUNK'),
  registered: z.boolean().nullable().describe('Null = this server does not register there'),
  up: z.boolean().nullable().describe('Whether it answers; calls try one that does not last. Null = nothing is known'),
});

/** Those of which the gauges know something, in the order in which it was learned. */
export async function describeSipTrunks({
  sipTrunkUp,
  sipTrunkRegistered,
}: Pick<Metrics, 'sipTrunkUp' | 'sipTrunkRegistered'>): Promise<z.infer<typeof sipTrunkSchema>[]> {
  const up = await statesOf(sipTrunkUp);
  const registered = await statesOf(sipTrunkRegistered);
  return [...new Set([...registered.keys(), ...up.keys()])].map((name) => ({
    name,
    registered: registered.get(name) ?? null,
    up: up.get(name) ?? null,
  }));
}

async function statesOf(gauge: Metrics['sipTrunkUp']): Promise<ReadonlyMap<string, boolean>> {
  const { values } = await gauge.get();
  return new Map(values.map(({ labels, value }) => [String(labels.trunk), value === 1]));
}
