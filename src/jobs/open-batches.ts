/** Opens batches as the settings say: those of one gateway in BATCH_DIR, or those that several gateways share. */
import { type BatchService, serviceOf } from './batch-service.ts';
import { Batches, type BatchesOptions } from './batches.ts';
import type { BatchDatabase } from './shared/batch-rows.ts';

/** Files in work at once that any gateway could do, and as many that only this one can. */
const FILES_MAX = 4;

/** What several gateways need to share their batches. */
export interface Sharing {
  /** The rows; closed by its owner. */
  readonly db: BatchDatabase;
  /** The same database, without a pooler in between. */
  readonly url: string;
  /** Of this gateway, among the others. */
  readonly address: string;
}

/** The batches of a gateway, from its start to its end. */
export interface OpenedBatches {
  readonly service: BatchService;
  /**
   * Continues what was begun before. To be called once.
   * @throws ConfigError when BATCH_DIR cannot be used; the error of the database
   */
  resume(): Promise<void>;
  /** Takes no new batches. */
  drain(): void;
  /** Stops all work. What is not done is done by other gateways, or after the next start. */
  close(): Promise<void>;
}

/** `sharing`: null = this gateway is alone. @throws the error of the database */
export async function openBatches(options: BatchesOptions, sharing: Sharing | null): Promise<OpenedBatches> {
  if (sharing === null) {
    const batches = new Batches(options);
    return {
      service: serviceOf(batches),
      resume: () => batches.resume(),
      drain: () => batches.drain(),
      close: () => batches.close(),
    };
  }
  const [{ BullQueue }, { SharedBatches }] = await Promise.all([
    import('./shared/bull-queue.ts'),
    import('./shared/shared-batches.ts'),
  ]);
  const queue = await BullQueue.open({ ...sharing, jobsMax: FILES_MAX, clock: options.clock, log: options.log });
  const batches = new SharedBatches({ ...options, ...sharing, queue, placesOfGateway: FILES_MAX });
  return {
    service: batches,
    resume: () => batches.open(),
    drain: () => batches.drain(),
    close: () => batches.close(),
  };
}
