/**
 * The media of a recording: one or two streams of sound that we only receive, each with an RTP session of its own, in
 * one description and in one time.
 */
import { randomBytes, randomInt } from 'node:crypto';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Codec } from '../../foundation/units.ts';
import type { Track } from '../../protocols/dialect.ts';
import { type MediaSession, SESSION_ID_END } from './media.ts';
import type { AudioChunk } from './rtp/receiver.ts';
import { type LocalSecurity, makeSrtpKeys, offersIn, type SrtpPolicy } from './wire/crypto-lines.ts';
import { countVersion, type LocalMedia, type RemoteMedia } from './wire/offer-answer.ts';
import type { RtpCodecName, RtpFormat } from './wire/rtp-codecs.ts';
import {
  acceptRecording,
  answerRecording,
  offerRecording,
  parseRecordingSdp,
  type TakenStream,
} from './wire/siprec/recording-offer.ts';

/** Whom a recording tells: the leg of its call. */
export interface RecordingListener {
  receiveAudio(chunk: AudioChunk, track: Track): void;
  receiveDigit(digit: string, track: Track): void;
  fail(error: TrunklineError): void;
}

interface RecordingMediaOptions {
  /** One for each stream that can be taken. */
  readonly sessions: readonly MediaSession[];
  /** Where the peer is to send. */
  readonly address: string;
  /** What we take, best first (SIP_CODECS). */
  readonly codecs: readonly RtpCodecName[];
  readonly clock: Clock;
  /** SIP_SRTP */
  readonly srtp: SrtpPolicy;
  readonly log: Log;
}

/** What was agreed of a stream, and with whom. */
interface Agreed {
  readonly remote: RemoteMedia;
  readonly peerAddress: string;
}

export class RecordingMedia {
  readonly #options: RecordingMediaOptions;
  readonly #sessionId = String(randomInt(SESSION_ID_END));
  /** Which session each stream of the description has; null = it is refused. */
  #bound: readonly (number | null)[] = [];
  /** Of each session; null = it has no stream yet. */
  readonly #agreed: (Agreed | null)[];
  readonly #labels: (string | null)[];
  /** Our keys of SRTP, of each session. */
  readonly #keys: readonly LocalSecurity['keys'][];
  /** Sessions that any sound has come to, and those whose peer has sent nothing for too long. */
  readonly #heard = new Set<number>();
  readonly #silent = new Set<number>();
  #format: RtpFormat | null = null;
  #sent: string | null = null;
  #isStarted = false;
  /** By the clock, when the first sound came. */
  #originMs: number | null = null;

  constructor(options: RecordingMediaOptions) {
    this.#options = options;
    this.#agreed = options.sessions.map(() => null);
    this.#labels = options.sessions.map(() => null);
    this.#keys = options.sessions.map(() => makeSrtpKeys(randomBytes));
  }

  /** The call's codec, that of the first stream; others are converted. Null before the first agreement. */
  get codec(): Codec | null {
    return this.#format?.codec ?? null;
  }

  /** Of each session the label of its stream; null = none. */
  get labels(): readonly (string | null)[] {
    return this.#labels;
  }

  /** Whether none of the streams sends: the recorded call is on hold. */
  get isHeld(): boolean {
    return this.#agreed.every((agreed) => agreed === null || !agreed.remote.sends);
  }

  /** Our description as it was sent last, to be sent again without a change. Throws before the first. */
  get lastDescription(): string {
    if (this.#sent === null) throw new Error('no description has been sent yet');
    return this.#sent;
  }

  /** As `CallMedia` does it; the sound of each session goes to the track of its place in `tracks`. */
  start(listener: RecordingListener, tracks: readonly Track[]): void {
    for (const [place, session] of this.#options.sessions.entries()) {
      const track = tracks[place];
      if (track !== undefined) session.attach(this.#listenOn(place, track, listener), this.codec);
    }
    this.#isStarted = true;
    for (const place of this.#agreed.keys()) this.#flow(place);
  }

  /**
   * Our answer to the peer's offer, which is in force from then on. `peerAddress` = where the offer came from.
   * @throws TrunklineError `codec_unsupported` when none of a first offer's streams can be taken, `message_malformed`,
   * `message_too_large`
   */
  answer(offer: string, peerAddress: string): string {
    const description = parseRecordingSdp(offer, peerAddress);
    const { sdp, streams } = answerRecording(description, {
      places: this.#places('plain'),
      bound: this.#bound,
      codec: this.#format?.name ?? null,
    });
    this.#take(streams, peerAddress);
    return this.#send(sdp);
  }

  /** Our offer, when the peer asks us to begin. */
  offer(): string {
    if (this.#format !== null && this.#sent !== null) return this.#sent;
    this.#bound = this.#options.sessions.map((_, place) => place);
    const offers = this.#options.srtp === 'require' ? 'secured' : 'plain';
    return this.#send(offerRecording(this.#places(offers)));
  }

  /**
   * The peer's answer to our offer, which came from `peerAddress`.
   * @throws TrunklineError as {@link answer}
   */
  accept(answer: string, peerAddress: string): void {
    const description = parseRecordingSdp(answer, peerAddress);
    const places = this.#places(offersIn(this.#sent));
    this.#take(acceptRecording(description, { places, bound: this.#bound }), peerAddress);
  }

  /** Gives the ports back. Logs what became of the packets if a codec was agreed. */
  async close(): Promise<void> {
    const { sessions, log } = this.#options;
    if (this.#format !== null)
      for (const [stream, session] of sessions.entries()) log.info({ stream, ...session.stats }, 'media ended');
    await Promise.all(sessions.map((session) => session.close()));
  }

  #places(offers: LocalSecurity['offers']): LocalMedia[] {
    const { sessions, address, codecs, srtp } = this.#options;
    return sessions.map(({ port }, place) => ({
      address,
      port,
      sessionId: this.#sessionId,
      version: 1,
      codecs,
      direction: 'recvonly',
      security: { policy: srtp, keys: this.#keys[place] ?? [], offers },
    }));
  }

  #take(streams: readonly (TakenStream | null)[], peerAddress: string): void {
    const taken = streams.flatMap((stream) => stream ?? []);
    if (taken.length === 0 && this.#format === null) {
      const codecs = this.#options.codecs.join(', ');
      throw new TrunklineError(
        'codec_unsupported',
        `got ${streams.length} streams none of which can be taken, expected one with ${codecs} that is sent`,
      );
    }
    this.#format ??= taken[0]?.remote.format ?? null;
    this.#bound = streams.map((stream) => stream?.place ?? null);
    for (const [place, before] of this.#agreed.entries()) {
      const now = taken.find((stream) => stream.place === place);
      const remote = now?.remote ?? (before === null ? null : { ...before.remote, sends: false });
      if (now !== undefined) this.#labels[place] = now.label;
      if (remote === null || isRepeated(before, remote, peerAddress)) continue;
      this.#agreed[place] = { remote, peerAddress };
      this.#flow(place);
    }
  }

  #flow(place: number): void {
    const agreed = this.#agreed[place] ?? null;
    if (this.#isStarted && agreed !== null) this.#options.sessions[place]?.setRemote(agreed.remote, agreed.peerAddress);
  }

  #send(sdp: string): string {
    this.#sent = countVersion(sdp, this.#sent);
    return this.#sent;
  }

  /**
   * The streams begin when they like, each with a time of its own. What arrives at the same time was said at the same
   * time, so the first packet of each says where it begins.
   */
  #listenOn(place: number, track: Track, listener: RecordingListener) {
    let offsetMs: number | null = null;
    return {
      receiveAudio: (chunk: AudioChunk): void => {
        const { atMs } = chunk;
        const nowMs = this.#options.clock.nowMs();
        this.#originMs ??= nowMs - atMs;
        offsetMs ??= Math.max(0, nowMs - this.#originMs - atMs);
        this.#heard.add(place);
        this.#silent.delete(place);
        listener.receiveAudio({ ...chunk, atMs: atMs + offsetMs }, track);
      },
      receiveDigit: (digit: string): void => listener.receiveDigit(digit, track),
      // A stream may be silent for hours; a recording whose streams all are is one whose sender is gone.
      fail: (error: TrunklineError): void => {
        this.#silent.add(place);
        const awaited = [...this.#agreed.keys()].filter((each) => this.#isAwaited(each));
        if (awaited.every((each) => this.#silent.has(each))) listener.fail(error);
      },
    };
  }

  /** Whether sound is to come to a session, or has come before. */
  #isAwaited(place: number): boolean {
    return this.#heard.has(place) || this.#agreed[place]?.remote.sends === true;
  }
}

/** A description that is repeated to refresh a session changes nothing: it does not count as a sign of media. */
function isRepeated(before: Agreed | null, remote: RemoteMedia, peerAddress: string): boolean {
  return (
    remote.sends && before?.peerAddress === peerAddress && JSON.stringify(before.remote) === JSON.stringify(remote)
  );
}
