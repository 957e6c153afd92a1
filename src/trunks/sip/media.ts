/**
 * The media of one call as signalling sees it: offers and answers on one side (RFC 3264), an {@link RtpSession} on the
 * other.
 */
import { randomInt } from 'node:crypto';
import type { Log } from '../../foundation/log/log.ts';
import type { Codec } from '../../foundation/units.ts';
import {
  acceptAnswer,
  answerOffer,
  countVersion,
  type LocalMedia,
  makeOffer,
  type RemoteMedia,
} from '../../protocols/sip/offer-answer.ts';
import type { RtpCodecName } from '../../protocols/sip/rtp-codecs.ts';
import { parseSdp } from '../../protocols/sip/session-description.ts';
import type { RtpSession, SessionListener } from '../rtp/session.ts';

/** Ids of our descriptions: decimal numbers that nobody can guess and that do not come twice. */
const SESSION_ID_END = 2 ** 47;

/** The part of an RTP session that a call uses. */
export type MediaSession = Pick<RtpSession, 'port' | 'attach' | 'setRemote' | 'send' | 'press' | 'close' | 'stats'>;

export class CallMedia {
  /** The RTP of the call. */
  readonly session: MediaSession;
  readonly #address: string;
  readonly #codecs: readonly RtpCodecName[];
  readonly #log: Log;
  readonly #sessionId = String(randomInt(SESSION_ID_END));
  /** Our description as it was sent last. */
  #sent: string | null = null;
  #codec: Codec | null = null;
  /** The peer's last description, what was agreed by it, and where it came from. */
  #agreed: { readonly description: string; readonly remote: RemoteMedia; readonly peerAddress: string } | null = null;
  #started = false;

  /** `address` = where the peer is to send; `codecs` = what we take, best first. */
  constructor(options: {
    readonly session: MediaSession;
    readonly address: string;
    readonly codecs: readonly RtpCodecName[];
    readonly log: Log;
  }) {
    this.session = options.session;
    this.#address = options.address;
    this.#codecs = options.codecs;
    this.#log = options.log;
  }

  /** The call's codec; null before the first agreement. Later agreements may be about another, which is converted. */
  get codec(): Codec | null {
    return this.#codec;
  }

  /**
   * Whether the peer wants nothing of us: it holds the call (RFC 3264 §8.4), also in the old way with the address
   * 0.0.0.0.
   */
  get isHeld(): boolean {
    const remote = this.#agreed?.remote;
    return remote !== undefined && (!remote.receives || remote.address === '0.0.0.0');
  }

  /** Our description as it was sent last, to be sent again without a change. Throws before the first. */
  get lastDescription(): string {
    if (this.#sent === null) throw new Error('no description has been sent yet');
    return this.#sent;
  }

  /**
   * The peer has shown that our messages reach it at its address: media flow from now on, or from the first agreement
   * on, and `listener` is handed what the peer sends. Before, a forged INVITE could make us send packets to anybody.
   */
  start(listener: SessionListener): void {
    this.session.attach(listener);
    this.#started = true;
    this.#flow();
  }

  /**
   * Our answer to the peer's offer, which is in force from then on. `peerAddress` = where the offer came from.
   * @throws TrunklineError `codec_unsupported`, `message_malformed`, `message_too_large`; nothing has changed then
   */
  answer(offer: string, peerAddress: string): string {
    const { sdp, remote } = answerOffer(parseSdp(offer), this.#local());
    this.#agree(offer, remote, peerAddress);
    return this.#send(sdp);
  }

  /** Our offer, when the peer asks us to begin. */
  offer(): string {
    return this.#send(makeOffer(this.#local()));
  }

  /**
   * The peer's answer to our offer, which came from `peerAddress`.
   * @throws TrunklineError as {@link answer}
   */
  accept(answer: string, peerAddress: string): void {
    this.#agree(answer, acceptAnswer(parseSdp(answer), this.#local()), peerAddress);
  }

  /** Gives the ports back. Logs what became of the packets if a codec was agreed. */
  close(): Promise<void> {
    if (this.#codec !== null) this.#log.info({ ...this.session.stats }, 'media ended');
    return this.session.close();
  }

  #local(): LocalMedia {
    return {
      address: this.#address,
      port: this.session.port,
      sessionId: this.#sessionId,
      version: 1,
      codecs: this.#codecs,
      direction: 'sendrecv',
    };
  }

  /** A description that is repeated to refresh a session changes nothing: it does not count as a sign of media. */
  #agree(description: string, remote: RemoteMedia, peerAddress: string): void {
    const isRepeated = description === this.#agreed?.description && peerAddress === this.#agreed.peerAddress;
    if (isRepeated && remote.sends) return;
    this.#codec ??= remote.format.codec;
    this.#agreed = { description, remote, peerAddress };
    this.#flow();
  }

  #flow(): void {
    if (this.#started && this.#agreed !== null) this.session.setRemote(this.#agreed.remote, this.#agreed.peerAddress);
  }

  #send(sdp: string): string {
    this.#sent = countVersion(sdp, this.#sent);
    return this.#sent;
  }
}
