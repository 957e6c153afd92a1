/** What a start asks of a database: one that is away, or a machine that is starved, costs time and not the start. */
import { type Clock, sleep } from '../clock.ts';
import { isDatabaseTrouble } from './trouble.ts';

const WAIT_MS = 30_000;
const RETRY_MS = 500;

/**
 * What `work` resolves with; it is tried again for 30 s while the database does not answer.
 * @throws the error of the database
 */
export async function patiently<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  const deadlineMs = clock.nowMs() + WAIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseTrouble(error) || clock.nowMs() >= deadlineMs) throw error;
    }
    await sleep(clock, RETRY_MS);
  }
}
