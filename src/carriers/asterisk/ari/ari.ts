/** Asterisk's REST interface: requests with a time-out, bounded answers, and failures that say what Asterisk said. */
import { readBoundedText } from '../../../foundation/bounded-body.ts';
import type { Clock } from '../../../foundation/clock.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import type { Settings } from '../../../foundation/settings/settings.ts';
import { ariRemedy, NOTHING_ANSWERS } from '../wire/ari-remedies.ts';

const REQUEST_TIMEOUT_MS = 5000;
/** A list of all channels of a busy Asterisk is about 1 kB a channel. */
const ANSWER_MAX_BYTES = 8_388_608;
const COMPLAINT_MAX_CHARS = 200;
const LATE = `no answer within ${REQUEST_TIMEOUT_MS} ms`;
/** What was to be removed, changed or left is not there (any more), or not where it would have to be. */
const GONE_STATUSES = [404, 409, 412, 422];

type Query = Readonly<Record<string, string>>;

/** Asterisk refused a request. */
export class AriError extends TrunklineError {
  /** Its HTTP status; null = no answer came. */
  readonly answered: number | null;

  constructor(answered: number | null, message: string) {
    super('asterisk_unavailable', message);
    this.name = 'AriError';
    this.answered = answered;
  }
}

/** Whether Asterisk said that what the request was about is gone. */
export function isGone(error: unknown): boolean {
  return error instanceof AriError && error.answered !== null && GONE_STATUSES.includes(error.answered);
}

/** Requests to one Asterisk as one user. */
export class Ari {
  readonly authorization: string;
  readonly #url: string;
  readonly #clock: Clock;

  constructor(settings: Pick<Settings, 'ARI_URL' | 'ARI_USER' | 'ARI_PASSWORD'>, clock: Clock) {
    this.#url = settings.ARI_URL;
    this.authorization = `Basic ${Buffer.from(`${settings.ARI_USER}:${settings.ARI_PASSWORD}`).toString('base64')}`;
    this.#clock = clock;
  }

  /**
   * The answer's JSON; null where there is none.
   * @throws AriError
   */
  get(path: string, query: Query = {}): Promise<unknown> {
    return this.#ask('GET', path, query);
  }

  /** As {@link get}. */
  post(path: string, query: Query = {}): Promise<unknown> {
    return this.#ask('POST', path, query);
  }

  /** As {@link get}, and content with what is gone already. */
  async remove(path: string): Promise<void> {
    try {
      await this.#ask('DELETE', path, {});
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  async #ask(method: string, path: string, query: Query): Promise<unknown> {
    const late = new AbortController();
    const timer = this.#clock.after(REQUEST_TIMEOUT_MS, () => late.abort());
    const what = `${method} ${path.replace(/\/[^/]*\d[^/]*/g, '/…')}`;
    try {
      const response = await fetch(`${this.#url}${path}?${new URLSearchParams(query)}`, {
        method,
        headers: { authorization: this.authorization },
        redirect: 'error',
        signal: late.signal,
      });
      const text = await readBoundedText(response, ANSWER_MAX_BYTES);
      if (text === null) throw new AriError(null, `${what}: Asterisk's answer has more than ${ANSWER_MAX_BYTES} bytes`);
      if (!response.ok) throw refusalIn(what, response.status, text);
      return text === '' ? null : JSON.parse(text);
    } catch (error) {
      if (error instanceof AriError) throw error;
      throw new AriError(null, `${what}: ${late.signal.aborted ? LATE : whyUnreachable(error)}`);
    } finally {
      timer.cancel();
    }
  }
}

/** What Asterisk's HTTP server says where ARI is not is no answer about what was asked for. */
function refusalIn(what: string, status: number, text: string): AriError {
  const complaint = complaintIn(text);
  const isAbsent = status === 404 && complaint === '';
  const remedy = isAbsent || status !== 404 ? ariRemedy(status) : null;
  const why = `${what}: Asterisk answered ${status}${complaint}${remedy === null ? '' : `: ${remedy}`}`;
  return new AriError(isAbsent ? null : status, why);
}

function whyUnreachable(error: unknown): string {
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  if (cause?.code === 'ECONNREFUSED') return NOTHING_ANSWERS;
  return 'Asterisk could not be reached, or its answer could not be read';
}

/** Asterisk's `{"message": "…"}`. */
function complaintIn(text: string): string {
  const [, message = ''] = /"(?:message|error)"\s*:\s*"([^"]*)"/.exec(text) ?? [];
  return message === '' ? '' : `: ${message.slice(0, COMPLAINT_MAX_CHARS)}`;
}
