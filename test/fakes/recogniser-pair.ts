/** Two recognisers in the test's own process: the second one writes what it hears in capitals. */
import type { RecogniserAbilities } from '../../engine/recogniser-abilities.ts';
import type { EnginesReport } from '../../src/engine-client/engine-report.ts';
import type { EngineStatus } from '../../src/engine-client/engine-status.ts';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import { RecogniserPair } from '../../src/engine-client/recogniser-pair.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import type { FakeClock } from './clock.ts';
import { FakeEngine } from './engine.ts';

const STATUS: EngineStatus = {
  state: 'ready',
  ready: 1,
  workers: 1,
  provider: 'cpu',
  devices: ['cpu'],
  models: null,
  recogniser: null,
  pids: [],
  final: null,
};

/** An engine as {@link RecogniserPair} needs it. */
export class FakeManagedEngine extends FakeEngine implements ManagedEngine {
  readonly status = STATUS;
  readonly report: EnginesReport = { engines: [], queue: [], servers: [] };
  /** What is estimated for each reading; null = no engine can take it. */
  estimateMs: number | null = 10;

  readingMs(): number | null {
    return this.estimateMs;
  }

  keepWhile(): void {
    // It is always there.
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The pair, and both of its engines. */
export function fakePair(clock: FakeClock) {
  const live = new FakeManagedEngine(clock);
  const final = new FakeManagedEngine(clock);
  const { hear } = final;
  final.hear = (request) => ({ ...hear(request), text: hear(request).text.toUpperCase(), tokens: [9] });
  final.abilities = { ...(final.abilities as RecogniserAbilities), textDrafts: true };
  const metrics = new Metrics();
  const pair = new RecogniserPair({ live, final, clock, log: createLog('silent'), metrics });
  return { pair, live, final, metrics };
}
