/** The metrics of several gateways that share a database. */
import type { MetricMaker } from './metric-maker.ts';

/** What a gateway knows of the others. */
interface ClusterSource {
  readonly members: () => readonly { readonly state: 'starting' | 'serving' | 'draining' }[];
  readonly isHeard: () => boolean;
  /** What one at a time does, by its kind, and whether this gateway does it. */
  readonly leads: () => ReadonlyMap<string, boolean>;
}

/** `metrics.cluster` */
export class ClusterMetrics {
  readonly deaths;
  readonly returns;
  #source: ClusterSource | null = null;

  constructor(make: MetricMaker) {
    make.watchedGauge(
      'trunkline_cluster_gateways',
      'Gateways that share the database, as of the last heartbeat',
      ['state'],
      (gauge) => {
        const members = this.#source?.members() ?? [];
        for (const state of ['starting', 'serving', 'draining'] as const)
          gauge.set({ state }, members.filter((member) => member.state === state).length);
      },
    );
    make.watchedGauge('trunkline_cluster_heard', 'Whether the other gateways know that this one lives', [], (gauge) =>
      gauge.set(this.#source?.isHeard() === true ? 1 : 0),
    );
    this.deaths = make.counter('trunkline_cluster_deaths_total', 'Gateways that this one declared dead', []);
    this.returns = make.counter(
      'trunkline_cluster_returns_total',
      'Times that the others took this gateway for dead, and it came back with its calls',
      [],
    );
    make.watchedGauge(
      'trunkline_cluster_leads',
      'What one gateway at a time does, and this one does',
      ['role'],
      (gauge) => {
        for (const [role, isLeading] of this.#source?.leads() ?? []) gauge.set({ role }, isLeading ? 1 : 0);
      },
    );
  }

  /** Asks `source` from now on. */
  watch(source: ClusterSource): void {
    this.#source = source;
  }
}
