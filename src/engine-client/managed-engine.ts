import type { Engine } from './engine.ts';
import type { EnginesReport } from './engine-report.ts';
import type { EngineStatus } from './engine-status.ts';

/** An engine as those see it who start it, look after it and end it. */
export interface ManagedEngine extends Engine {
  readonly status: EngineStatus;
  /** How the engine processes are, one by one. */
  readonly report: EnginesReport;
  /** Does not stop the engine processes for want of work while `isNeeded` says that work is likely to come. */
  keepWhile(isNeeded: () => boolean): void;
  /**
   * Takes no more jobs, refuses those that wait, lets the engine processes finish what they have, and resolves when
   * they are gone.
   */
  close(): Promise<void>;
}
