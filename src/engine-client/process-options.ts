import type { EngineSettings } from '../../engine/contract.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { ProcessHandlers } from './process-handlers.ts';

/** What an engine process is started with. */
export interface ProcessOptions {
  /** Path of the engine's main file. */
  readonly entry: string;
  readonly settings: EngineSettings;
  /** As in nice(1). */
  readonly niceness: number;
  /** Processors that it runs on; empty = all. */
  readonly cpus: readonly number[];
  readonly clock: Clock;
  readonly log: Log;
  readonly handlers: ProcessHandlers;
}
