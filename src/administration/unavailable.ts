import { describeTrouble, isDatabaseTrouble } from '../foundation/database/trouble.ts';
import { TrunklineError } from '../foundation/errors.ts';

/** @throws TrunklineError `records_unavailable` where the database of `work` is away, or its disk is full */
export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDatabaseTrouble(error)) throw error;
    throw new TrunklineError('records_unavailable', `the records cannot be reached (${describeTrouble(error)})`);
  }
}
