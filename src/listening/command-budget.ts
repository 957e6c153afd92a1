/** How many commands one client may send: each costs little, but thousands a second delay everybody else. */
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { rateOf, TokenBucket } from '../foundation/token-buckets.ts';

/** No client comes near it: they end an utterance, or keep a socket open, a few times a second at most. */
const COMMANDS_PER_S = 100;
/** What may come at once, as after a loss of the network, or a conversation that is handed over item by item. */
const COMMANDS_AT_ONCE = 1000;
const RATE = rateOf({ perSecond: COMMANDS_PER_S, burst: COMMANDS_AT_ONCE });

/** Of one socket. Audio and text to be spoken are no commands: they have limits of their own. */
export class CommandBudget {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #bucket: TokenBucket;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
    this.#bucket = new TokenBucket(COMMANDS_AT_ONCE, clock.nowMs());
  }

  /** What was taken last was no command. */
  giveBack(): void {
    const nowMs = this.#clock.nowMs();
    this.#bucket.set(this.#bucket.left(RATE, nowMs) + 1, nowMs);
  }

  /** A command has come. @throws TrunklineError `too_many_requests` when there were too many */
  take(): void {
    if (!this.#bucket.take(RATE, this.#clock.nowMs()))
      throw new TrunklineError(
        'too_many_requests',
        `got more than ${COMMANDS_AT_ONCE} commands, and more than ${COMMANDS_PER_S} a second, the most allowed`,
      );
  }
}
