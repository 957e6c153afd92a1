/** Sends answers to where their requests said, and repeats what fails. A restart forgets them. */

import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import { namedTargets } from '../../foundation/outbound-targets.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { WITHIN_HOURS } from '../../foundation/webhooks/retry-plan.ts';
import { WebhookSender } from '../../foundation/webhooks/webhook-sender.ts';

/** Answers that wait, each up to some MB. */
const WAITING_MAX = 32;

interface CallbacksOptions {
  readonly settings: Pick<Settings, 'WEBHOOK_SECRET' | 'OUTBOUND_ALLOW'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

/** The answers of one server that are on their way. */
export class FileCallbacks {
  readonly #options: CallbacksOptions;
  readonly #sender: WebhookSender;
  readonly #end = new AbortController();
  #waiting = 0;

  constructor(options: CallbacksOptions) {
    this.#options = options;
    const { settings, clock } = options;
    this.#sender = new WebhookSender({
      secret: settings.WEBHOOK_SECRET,
      allowPrivate: namedTargets(settings.OUTBOUND_ALLOW, 'batches'),
      plan: WITHIN_HOURS,
      clock,
    });
  }

  /**
   * Counts an answer in that is to come. The result counts it out.
   * @throws TrunklineError `invalid_request` without WEBHOOK_SECRET, `too_many_requests`
   */
  enter(): () => void {
    if (this.#options.settings.WEBHOOK_SECRET === '')
      throw new TrunklineError(
        'invalid_request',
        'callback: callbacks need a key to be signed with (WEBHOOK_SECRET)',
        'callback',
      );
    if (this.#waiting >= WAITING_MAX)
      throw new TrunklineError('too_many_requests', `${WAITING_MAX} callbacks are on their way, the most allowed`);
    this.#waiting++;
    return () => void this.#waiting--;
  }

  /** Posts `body`, JSON, to `url` until it is taken or was tried often enough. Never rejects. */
  deliver(url: string, id: string, body: string): Promise<void> {
    const { log } = this.#options;
    return this.#sender.deliver({ url, id, attempts: 0, body: () => body }, this.#end.signal, ({ state, answer }) => {
      if (state === 'failed') log.warn({ requestId: id, answer }, 'a callback was not taken and is given up');
    });
  }

  /** Gives up all that waits. */
  close(): void {
    this.#end.abort();
  }
}
