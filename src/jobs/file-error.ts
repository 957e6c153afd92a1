import { TrunklineError } from '../foundation/errors.ts';
import type { Log } from '../foundation/log/log.ts';
import type { BatchFile } from './batch.ts';

/** Why a file of the batch `batchId` failed, as its client is told. What no client can know goes to the log. */
export function fileErrorOf(error: unknown, batchId: string, log: Log): NonNullable<BatchFile['error']> {
  if (error instanceof TrunklineError) return { code: error.code, message: error.message };
  log.error({ err: error, batch: batchId }, 'a file of a batch failed');
  return { code: 'internal', message: 'something went wrong in here; the log says what' };
}
