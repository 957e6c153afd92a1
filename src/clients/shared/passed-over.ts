/** Parameters of other servers that mean nothing here: passed over, and told once in the log. */
import type { Log } from '../../foundation/log/log.ts';

/** Clients name them, so the lines are limited. */
const NAMES_TOLD_MAX = 50;
/** What a name may be to stand in the log. */
const NAME = /^[A-Za-z][\w.-]{0,39}$/;

/** What was passed over so far at one endpoint. */
export class PassedOver {
  readonly #log: Pick<Log, 'info'>;
  readonly #endpoint: string;
  readonly #told = new Set<string>();

  constructor({ log, endpoint }: { log: Pick<Log, 'info'>; endpoint: string }) {
    this.#log = log;
    this.#endpoint = endpoint;
  }

  /** Tells of those among `names` that are new. Values stay out of the log. */
  note(names: readonly string[]): void {
    const fresh = names.filter((name) => NAME.test(name) && !this.#told.has(name));
    for (const name of fresh.slice(0, NAMES_TOLD_MAX - this.#told.size)) {
      this.#told.add(name);
      this.#log.info(
        { endpoint: this.#endpoint, parameter: name },
        'a parameter means nothing here; it is passed over',
      );
    }
  }
}
