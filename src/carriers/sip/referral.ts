/** One transfer of a SIP call to somebody else: our REFER, and what the peer tells of the call that it makes. */
import type { IncomingResponseMessage, Session } from 'sip.js/lib/core/index.js';
import type { TransferOutcome, TransferRequest } from '../../calls/leg.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { Credentials } from './credentials.ts';
import { answerChallenge } from './refresh-request.ts';
import { failureOf, type ReferProgress, referTarget } from './wire/refer.ts';

/** Answers of peers that take no REFER at all, or not this one: RFC 3261 §21.4 and §21.5. */
const UNSUPPORTED = [405, 416, 420, 489, 501];

interface ReferralOptions {
  readonly session: Session;
  readonly clock: Clock;
  /** What a challenge is answered with; null = with nothing. */
  readonly credentials: Credentials | null;
  /** `Contact: …` of ours. */
  readonly contactHeader: string;
}

export class Referral {
  /** Never rejects. */
  readonly outcome: Promise<TransferOutcome>;
  readonly #options: ReferralOptions;
  #resolve: (outcome: TransferOutcome) => void = () => undefined;
  #timer: Timer | null = null;
  /** The peer has taken the REFER. */
  #isAccepted = false;

  constructor(options: ReferralOptions) {
    this.#options = options;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Sends the REFER. To be called once. */
  begin({ to, timeoutMs }: TransferRequest): void {
    const { session, clock, contactHeader } = this.#options;
    const { host, port } = session.remoteURI;
    const target = referTarget(to, port === undefined ? host : `${host}:${port}`);
    if (target === null) {
      this.#settle('unsupported');
      return;
    }
    this.#timer = clock.after(timeoutMs, () => this.#settle('unanswered'));
    const headers = [`Refer-To: <${target}>`, `Referred-By: <${session.localURI.toString()}>`, contactHeader];
    this.#send(headers, this.#options.credentials);
  }

  /** The peer told something by NOTIFY. */
  onProgress({ statusCode, isLast }: ReferProgress): void {
    if (statusCode !== null && statusCode >= 300) this.#settle(failureOf(statusCode));
    // A peer may also tell nothing but that it tries, and that it will tell no more (RFC 3515 §2.4.5).
    else if (isLast || (statusCode ?? 0) >= 200) this.#settle('transferred');
  }

  /**
   * The call ended meanwhile. Peers that took the REFER may end it as soon as they have what they need. Returns whether
   * that is how it ended.
   */
  onBye(): boolean {
    this.#settle(this.#isAccepted ? 'transferred' : 'refused');
    return this.#isAccepted;
  }

  /** The call ends on our side. */
  close(): void {
    this.#settle('refused');
  }

  #send(headers: readonly string[], credentials: Credentials | null): void {
    const onRefused = ({ message }: { message: IncomingResponseMessage }): void => {
      const authorization = credentials === null ? null : answerChallenge(sent, message, credentials);
      if (authorization === null) this.#refused(message.statusCode ?? 500);
      else this.#send([...headers, authorization], null);
    };
    const sent = this.#options.session.refer(
      {
        onAccept: () => {
          this.#isAccepted = true;
        },
        onReject: onRefused,
        onRedirect: onRefused,
      },
      { extraHeaders: [...headers] },
    );
  }

  #refused(statusCode: number): void {
    this.#settle(UNSUPPORTED.includes(statusCode) ? 'unsupported' : failureOf(statusCode));
  }

  #settle(outcome: TransferOutcome): void {
    this.#timer?.cancel();
    this.#resolve(outcome);
  }
}
