/** Waits for a gateway. */
import { type Clock, sleep } from '../foundation/clock.ts';
import { ConfigError } from '../foundation/settings/config.ts';

const ASK_EVERY_MS = 100;
const READY_TIMEOUT_MS = 60_000;

/**
 * Resolves when the gateway at `url` can caption calls.
 * @throws ConfigError with the text of `refusal` as soon as it is not null; Error after a minute
 */
export async function untilReady(url: string, clock: Clock, refusal: () => string | null): Promise<void> {
  const giveUpMs = clock.nowMs() + READY_TIMEOUT_MS;
  while (clock.nowMs() < giveUpMs) {
    const response = await fetch(`${url}/ready`);
    await response.body?.cancel();
    const message = refusal();
    if (message !== null) throw new ConfigError([message]);
    if (response.ok) return;
    await sleep(clock, ASK_EVERY_MS);
  }
  throw new Error('the speech engine was not ready within a minute: see what `trunkline doctor` says');
}
