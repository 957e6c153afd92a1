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
import { parseSdp } from '../../protocols/sip/session-description.ts';
import type { RtpSession } from '../rtp/session.ts';

/** Ids of our sessions: decimal numbers that are not to be guessed or met twice. */
const SESSION_ID_END = 2 ** 47;

/** What of an RTP session is used here. */
export type MediaSession = Pick<RtpSession, 'port' | 'setRemote' | 'send' | 'press' | 'close' | 'stats'>;

export class CallMedia {
  readonly #session: MediaSession;
  readonly #address: string;
  readonly #log: Log;
  readonly #sessionId = String(randomInt(SESSION_ID_END));
  /** Our description as it was sent last. */
  #said: string | null = null;
  #codec: Codec | null = null;
  /** What the peer said last, as it was read, and where that came from. */
  #agreed: { readonly description: string; readonly remote: RemoteMedia; readonly peerAddress: string } | null = null;
  #started = false;

  /** `address` = where the peer is to send. */
  constructor(options: { readonly session: MediaSession; readonly address: string; readonly log: Log }) {
    this.#session = options.session;
    this.#address = options.address;
    this.#log = options.log;
  }

  /**
   * What the call speaks; null before the first agreement. Later agreements may be about another, which the media
   * translate.
   */
  get codec(): Codec | null {
    return this.#codec;
  }

  /** Our description as it was sent last, to be said again without a change. Throws before the first. */
  get said(): string {
    if (this.#said === null) throw new Error('nothing has been said yet');
    return this.#said;
  }

  /**
   * The peer has shown that it can hear us where it says that it is: media flow from now on, or from the first
   * agreement on. Before, whoever forges an INVITE could have our packets sent to anybody.
   */
  start(): void {
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
    return this.#say(sdp);
  }

  /** Our offer, when the peer asks us to begin. */
  offer(): string {
    return this.#say(makeOffer(this.#local()));
  }

  /**
   * The peer's answer to our offer, which came from `peerAddress`.
   * @throws TrunklineError as {@link answer}
   */
  accept(answer: string, peerAddress: string): void {
    this.#agree(answer, acceptAnswer(parseSdp(answer), this.#local()), peerAddress);
  }

  /** One frame to the peer. */
  send(bytes: Uint8Array): void {
    this.#session.send(bytes);
  }

  /** Presses a key by events, whose tone is then left out. Without events the tone does it. */
  press(digit: string): void {
    this.#session.press(digit);
  }

  /** Gives the ports back; what became of the packets is logged if there was anything to send. */
  close(): Promise<void> {
    if (this.#codec !== null) this.#log.info({ ...this.#session.stats }, 'media ended');
    return this.#session.close();
  }

  #local(): LocalMedia {
    const ours = { address: this.#address, port: this.#session.port, sessionId: this.#sessionId, version: 1 };
    return { ...ours, codecs: ['mulaw', 'alaw'], direction: 'sendrecv' };
  }

  /**
   * A description said once more, to refresh a session, is no news of the media: it does not take the place of sound
   * that is to come.
   */
  #agree(description: string, remote: RemoteMedia, peerAddress: string): void {
    const isRepeated = description === this.#agreed?.description && peerAddress === this.#agreed.peerAddress;
    if (isRepeated && remote.sends) return;
    this.#codec ??= remote.codec;
    this.#agreed = { description, remote, peerAddress };
    this.#flow();
  }

  #flow(): void {
    if (this.#started && this.#agreed !== null) this.#session.setRemote(this.#agreed.remote, this.#agreed.peerAddress);
  }

  #say(sdp: string): string {
    this.#said = countVersion(sdp, this.#said);
    return this.#said;
  }
}
