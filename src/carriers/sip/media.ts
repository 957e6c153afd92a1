/**
 * The media of one call as signalling sees it: offers and answers on one side (RFC 3264), an {@link RtpSession} on the
 * other.
 */
import { randomBytes, randomInt } from 'node:crypto';
import type { Log } from '../../foundation/log/log.ts';
import type { Codec } from '../../foundation/units.ts';
import type { RtpSession, SessionListener } from './rtp/session.ts';
import { type LocalSecurity, makeSrtpKeys, offersIn, type SrtpPolicy } from './wire/crypto-lines.ts';
import {
  acceptAnswer,
  answerOffer,
  countVersion,
  type LocalMedia,
  makeOffer,
  type RemoteMedia,
} from './wire/offer-answer.ts';
import type { RtpCodecName } from './wire/rtp-codecs.ts';
import { parseSdp } from './wire/session-description.ts';

/** Ids of our descriptions: decimal numbers that nobody can guess and that do not come twice. */
export const SESSION_ID_END = 2 ** 47;

/** The part of an RTP session that a call uses. */
export type MediaSession = Pick<RtpSession, 'port' | 'attach' | 'setRemote' | 'send' | 'press' | 'close' | 'stats'>;

export class CallMedia {
  /** The RTP of the call. */
  readonly session: MediaSession;
  readonly #address: string;
  readonly #codecs: readonly RtpCodecName[];
  readonly #log: Log;
  readonly #srtp: SrtpPolicy;
  readonly #isPrivate: boolean;
  readonly #keys = makeSrtpKeys(randomBytes);
  readonly #sessionId = String(randomInt(SESSION_ID_END));
  /** Our description as it was sent last. */
  #sent: string | null = null;
  #codec: Codec | null;
  readonly #fixedCodec: Codec | null;
  /** The peer's last description, what was agreed by it, and where it came from. */
  #agreed: { readonly description: string; readonly remote: RemoteMedia; readonly peerAddress: string } | null = null;
  #started = false;

  /**
   * `address` = where the peer is to send; `codecs` = what we take, best first; `isPrivate` = nobody on the way reads
   * the signalling (TLS).
   */
  constructor(options: {
    readonly session: MediaSession;
    readonly address: string;
    readonly codecs: readonly RtpCodecName[];
    readonly srtp: SrtpPolicy;
    readonly isPrivate: boolean;
    /** The call's, where a leg before has chosen it; left out = the first agreement does. */
    readonly codec?: Codec | null;
    readonly log: Log;
  }) {
    this.session = options.session;
    this.#srtp = options.srtp;
    this.#isPrivate = options.isPrivate;
    this.#address = options.address;
    this.#codecs = options.codecs;
    this.#log = options.log;
    this.#fixedCodec = options.codec ?? null;
    this.#codec = this.#fixedCodec;
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
    this.session.attach(listener, this.#fixedCodec);
    this.#started = true;
    this.#flow();
  }

  /**
   * Our answer to the peer's offer, which is in force from then on. `peerAddress` = where the offer came from.
   * @throws TrunklineError `codec_unsupported`, `message_malformed`, `message_too_large`; nothing has changed then
   */
  answer(offer: string, peerAddress: string): string {
    const { sdp, remote } = answerOffer(parseSdp(offer), this.#local('plain'));
    this.#agree(offer, remote, peerAddress);
    return this.#send(sdp);
  }

  /**
   * Our offer, when the peer asks us to begin. Once media are agreed it says what is in force; before, it offers SRTP
   * along with what goes without it where the policy allows both.
   */
  offer(): string {
    const offers =
      this.#agreed === null ? this.#wish('either') : this.#agreed.remote.srtp === null ? 'plain' : 'secured';
    return this.#send(makeOffer(this.#local(offers), this.#sent));
  }

  /** The offers of a call of ours, in the order in which they are to be tried. */
  firstOffers(): LocalSecurity['offers'][] {
    const wish = this.#wish('secured');
    return wish === 'secured' && this.#srtp === 'allow' ? ['secured', 'plain'] : [wish];
  }

  /** One of {@link firstOffers}. */
  firstOffer(offers: LocalSecurity['offers']): string {
    return this.#send(makeOffer(this.#local(offers)));
  }

  /**
   * The peer's answer to our offer, which came from `peerAddress`.
   * @throws TrunklineError as {@link answer}
   */
  accept(answer: string, peerAddress: string): void {
    this.#agree(answer, acceptAnswer(parseSdp(answer), this.#local(offersIn(this.#sent))), peerAddress);
  }

  /** Gives the ports back. Logs what became of the packets if anything was agreed. */
  close(): Promise<void> {
    if (this.#agreed !== null) this.#log.info({ ...this.session.stats }, 'media ended');
    return this.session.close();
  }

  /** Whether to offer SRTP: keys that anybody on the way can read are offered only where the policy requires it. */
  #wish(allowed: 'either' | 'secured'): LocalSecurity['offers'] {
    if (this.#srtp === 'require') return 'secured';
    return this.#srtp === 'allow' && this.#isPrivate ? allowed : 'plain';
  }

  #local(offers: LocalSecurity['offers']): LocalMedia {
    return {
      address: this.#address,
      port: this.session.port,
      sessionId: this.#sessionId,
      version: 1,
      codecs: this.#codecs,
      direction: 'sendrecv',
      security: { policy: this.#srtp, keys: this.#keys, offers },
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
