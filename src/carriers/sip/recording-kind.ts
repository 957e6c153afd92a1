/** The recording of a call that a session border controller sends us (RFC 7866): we only listen. */
import type { IncomingInviteRequest, IncomingRequestMessage } from 'sip.js/lib/core/index.js';
import { asTrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { CallReferences, CallStart, Track } from '../../protocols/dialect.ts';
import type { CallServices } from './incoming.ts';
import type { IncomingKind, IncomingMedia } from './incoming-kind.ts';
import type { SipLeg } from './leg.ts';
import type { MediaSession } from './media.ts';
import { RecordingMedia } from './recording-media.ts';
import { allowsUpdate } from './session-timer.ts';
import type { SipStack } from './stack.ts';
import type { SipBody } from './wire/bodies.ts';
import { callIdOf, parametersOf, partiesOf } from './wire/call-identity.ts';
import type { SessionDescription } from './wire/session-description.ts';
import { mergeMetadata, type RecordingMetadata, readMetadata } from './wire/siprec/metadata.ts';
import { recordedParties } from './wire/siprec/recorded-parties.ts';
import { RECORDER_FEATURE, requiresRecording, SIPREC_TAG, wantsSwap } from './wire/siprec/recording-request.ts';
import { isIncomplete, snapshotRequest } from './wire/siprec/snapshot-request.ts';

/** A call has two sides. */
const STREAMS_MAX = 2;
/** Nothing is ever sent to the other side. */
const DEAF: Pick<MediaSession, 'send' | 'press'> = { send: () => undefined, press: () => false };
/** A peer that does not answer with what is missing is not asked for ever. */
const QUESTIONS_MAX = 3;
/** As many characters as a party may have. */
const PARTY_MAX_CHARS = 256;

interface RecordingOptions
  extends Pick<CallServices, 'openRecordingMedia' | 'mediaAddress' | 'codecs' | 'ownUsers' | 'timers' | 'srtp'> {
  readonly request: IncomingInviteRequest;
  readonly stack: SipStack;
  /** Null = there is none, or it cannot be read. */
  readonly offer: SessionDescription | null;
  readonly log: Log;
}

export class RecordingKind implements IncomingKind {
  readonly carrier = 'siprec';
  readonly features = RECORDER_FEATURE;
  readonly headers: readonly string[];
  readonly #options: RecordingOptions;
  #metadata: RecordingMetadata | null = null;
  /** What came cannot be understood without what was lost. */
  #isIncomplete = false;
  #questions = 0;

  constructor(options: RecordingOptions) {
    const { message } = options.request;
    this.#options = options;
    this.headers = requiresRecording(message) ? [`Require: ${SIPREC_TAG}`] : [];
    this.read(message);
  }

  /** Metadata that cannot be read change nothing: the streams are then taken in their order. */
  read(message: IncomingRequestMessage): void {
    const { stack, log } = this.#options;
    const { metadata } = stack.envelopeOf(message);
    if (metadata === null) return;
    try {
      const before = this.#metadata;
      const update = readMetadata(metadata);
      this.#metadata = mergeMetadata(before, update);
      this.#isIncomplete = isIncomplete(before, update);
      const { participants, streams } = this.#metadata;
      const present = participants.filter(({ hasLeft }) => hasLeft !== true).length;
      if (before !== null) log.info({ participants: present, streams: streams.length }, 'the metadata have changed');
    } catch (error) {
      const { message: reason } = asTrunklineError(error, 'the metadata could not be read');
      log.warn({ reason }, 'the metadata of a recording cannot be read: its streams are taken in their order');
    }
  }

  /** A request for all metadata, when they are incomplete. A peer that takes no UPDATE cannot be asked. */
  question(): SipBody | null {
    const { request, log } = this.#options;
    const { message } = request;
    const isDue = this.#isIncomplete && this.#questions < QUESTIONS_MAX && allowsUpdate(message) !== false;
    if (!isDue) return null;
    this.#isIncomplete = false;
    this.#questions++;
    log.info('the metadata of a recording name what they have not described: all of them are asked for');
    return snapshotRequest(message.getHeaders('accept'));
  }

  async open(): Promise<IncomingMedia> {
    const { openRecordingMedia, mediaAddress: address, codecs, timers, srtp, log } = this.#options;
    const sessions: MediaSession[] = [];
    try {
      while (sessions.length < this.#streams) sessions.push(await openRecordingMedia());
    } catch (error) {
      await Promise.all(sessions.map((session) => session.close()));
      throw error;
    }
    const media = new RecordingMedia({ sessions, address, codecs, clock: timers.clock, srtp, log });
    return this.#toIncoming(media, sessions.length);
  }

  /** One where all are mixed; two where nobody says, since the second may come later. */
  get #streams(): number {
    const { offer } = this.#options;
    const offered = offer?.media.filter(({ kind }) => kind === 'audio').length ?? STREAMS_MAX;
    const named = this.#metadata?.streams.length ?? 0;
    return Math.min(STREAMS_MAX, Math.max(1, offered, named));
  }

  #toIncoming(media: RecordingMedia, streams: number): IncomingMedia {
    let tracks: Track[] | null = null;
    const chooseTracks = (): readonly Track[] => {
      tracks ??= this.#tracks(media, streams);
      return tracks;
    };
    return {
      sink: DEAF,
      get isHeld() {
        return media.isHeld;
      },
      get lastDescription() {
        return media.lastDescription;
      },
      answer: (offer, peerAddress) => media.answer(offer, peerAddress),
      offer: () => media.offer(),
      accept: (answer, peerAddress) => media.accept(answer, peerAddress),
      start: (leg: SipLeg) => media.start(leg, chooseTracks()),
      describe: () => this.#describe(media, chooseTracks()),
      close: () => media.close(),
    };
  }

  /** The caller's stream is `inbound`, unless the tracks are to change places. */
  #tracks(media: RecordingMedia, streams: number): Track[] {
    if (streams === 1) return ['inbound'];
    const isSecond = recordedParties(this.#metadata, media.labels).callerStream === 1;
    return isSecond === this.#isSwapped ? ['inbound', 'outbound'] : ['outbound', 'inbound'];
  }

  get #isSwapped(): boolean {
    const { request, stack } = this.#options;
    return wantsSwap(stack.envelopeOf(request.message).uri, parametersOf(request.message));
  }

  #describe(media: RecordingMedia, tracks: readonly Track[]): CallStart | null {
    const { request, stack, ownUsers } = this.#options;
    const { message } = request;
    const { codec } = media;
    if (codec === null) return null;
    const { caller, callee, callerStream } = recordedParties(this.#metadata, media.labels);
    // Without metadata the parties of the recording are the best that is known.
    const isNamed = caller.user !== null || callee.user !== null;
    const parties = isNamed
      ? { from: bound(caller.user), to: bound(callee.user) }
      : partiesOf(message, stack.envelopeOf(message).user, ownUsers);
    const [far, near] = tracks[callerStream] === 'outbound' ? [callee, caller] : [caller, callee];
    const { swap: _swap, ...parameters } = parametersOf(message);
    const names = { ...(far.name && { callerName: far.name }), ...(near.name && { agentName: near.name }) };
    return {
      carrier: this.carrier,
      callId: callIdOf(message.callId),
      streamId: callIdOf(message.fromTag),
      ...parties,
      tracks: tracks.length === 1 ? ['inbound'] : ['inbound', 'outbound'],
      codec,
      timed: true,
      playback: 'none',
      parameters: { ...names, ...parameters },
      references: this.#references(message.callId),
    };
  }

  #references(sipCallId: string): CallReferences {
    const { sessionId, groupId, sipSessionId, ucid, original } = this.#metadata ?? {};
    const told = { sipCallId, originalCallId: original?.callId, sessionId, groupId, sipSessionId, ucid };
    return Object.fromEntries(Object.entries(told).filter(([, value]) => value != null && value !== ''));
  }
}

function bound(user: string | null): string | null {
  return user?.slice(0, PARTY_MAX_CHARS) ?? null;
}
