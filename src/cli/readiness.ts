/** Waits for a gateway. */
import { type Clock, sleep } from '../foundation/clock.ts';
import { ConfigError } from '../foundation/settings/config.ts';

const ASK_EVERY_MS = 100;
const READY_TIMEOUT_MS = 60_000;
/** Of a starved machine, whose engines still load: a load that hangs is ended by the gateway itself. */
const LOADING_TIMEOUT_MS = 600_000;

/**
 * Resolves when the gateway at `url` can caption calls.
 * @throws ConfigError with the text of `refusal` as soon as it is not null; Error after a minute, or after ten minutes
 * in which the engines were loading
 */
export async function untilReady(url: string, clock: Clock, refusal: () => string | null): Promise<void> {
  const startMs = clock.nowMs();
  for (;;) {
    const response = await fetch(`${url}/ready`);
    const isLoading = /"state":"starting"/.test(await response.text());
    const message = refusal();
    if (message !== null) throw new ConfigError([message]);
    if (response.ok) return;
    const limitMs = isLoading ? LOADING_TIMEOUT_MS : READY_TIMEOUT_MS;
    if (clock.nowMs() - startMs >= limitMs)
      throw new Error(
        `the speech engine was not ready within ${limitMs / 60_000} min: see what \`trunkline doctor\` says`,
      );
    await sleep(clock, ASK_EVERY_MS);
  }
}
