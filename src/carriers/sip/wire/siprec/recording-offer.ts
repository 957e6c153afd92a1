/**
 * Offers and answers of a recording (RFC 7866 §7, §8): several streams of sound that we only receive, each with a label
 * of the other side's.
 */
import { TrunklineError } from '../../../../foundation/errors.ts';
import { acceptAnswer, answerOffer, type LocalMedia, makeOffer, type RemoteMedia } from '../offer-answer.ts';
import type { RtpCodecName } from '../rtp-codecs.ts';
import { attribute, type MediaDescription, parseSdp, type SessionDescription } from '../session-description.ts';

/** A label is a token (RFC 4574 §4). */
const LABEL = /^[\w!#$%&'*+.^`{|}~-]{1,64}$/;
const NOWHERE = /^(?:0\.0\.0\.0|::)$/;

/** What became of one of the description's streams; null = it was refused. */
export interface TakenStream {
  /** Which of our places it has. */
  readonly place: number;
  readonly remote: RemoteMedia;
  /** Null = none. */
  readonly label: string | null;
}

/** Where streams can go. */
export interface RecordingPlaces {
  readonly places: readonly LocalMedia[];
  /** Which place each stream of the description has, in its order; null = none. */
  readonly bound: readonly (number | null)[];
  /** That of the streams so far; null = none is chosen. */
  readonly codec: RtpCodecName | null;
}

/**
 * Reads a description of the other side. Some vendors name no address, or that of nobody, though they send: theirs is
 * then the one that the description came from.
 * @throws TrunklineError `message_malformed`, `message_too_large`
 */
export function parseRecordingSdp(text: string, peerAddress: string): SessionDescription {
  const address = `c=IN ${peerAddress.includes(':') ? 'IP6' : 'IP4'} ${peerAddress}`;
  const hasAddress = /^c=/m.test(text.split(/^m=/m)[0] ?? '');
  const whole = hasAddress ? text : text.replace(/^(?=m=)/m, `${address}\r\n`);
  const { media, ...session } = parseSdp(whole);
  return {
    ...session,
    media: media.map((stream) => (NOWHERE.test(stream.address) ? { ...stream, address: peerAddress } : stream)),
  };
}

/**
 * Our answer to an offer. `places` = where we can take a stream each; `bound` = which place each stream of the
 * description before has, null = none. A stream keeps its place, others take those that are free or become free, in
 * their order, and what is left is refused with port 0. Streams get the `codec` that the call has, null = that of the
 * first of them, where they have it.
 * @throws TrunklineError `message_malformed`
 */
export function answerRecording(
  offer: SessionDescription,
  { places, bound, codec }: RecordingPlaces,
): { sdp: string; streams: (TakenStream | null)[] } {
  const [first] = places;
  if (first === undefined) throw new Error('an answer without places');
  const kept = offer.media.map((stream, i) => (isOpen(stream) ? (bound[i] ?? null) : null));
  const free = places.map((_, place) => place).filter((place) => !kept.includes(place));
  const sections: string[] = [];
  let preferred = codec;
  const streams = offer.media.map((stream, i): TakenStream | null => {
    const place = kept[i] ?? free[0];
    const local = isOpen(stream) && place !== undefined ? places[place] : undefined;
    const answer = local === undefined ? null : tryAnswer(offer, stream, local, preferred);
    if (place === undefined || answer === null) {
      sections.push(`m=${stream.kind} 0 ${stream.protocol} ${stream.formats.join(' ')}\r\n`);
      return null;
    }
    if (place === free[0]) free.shift();
    const label = labelOf(stream);
    sections.push(`${streamsIn(answer.sdp)}${label === null ? '' : `a=label:${label}\r\n`}`);
    preferred ??= answer.remote.format.name;
    return { place, remote: answer.remote, label };
  });
  return { sdp: sessionIn(makeOffer(first)) + sections.join(''), streams };
}

/** Sound that is sent; a stream with port 0 is refused or has ended. */
function isOpen({ kind, port }: MediaDescription): boolean {
  return kind === 'audio' && port !== 0;
}

/** Our offer of one stream for each place. */
export function offerRecording(places: readonly LocalMedia[]): string {
  const [first] = places;
  if (first === undefined) throw new Error('an offer without streams');
  return sessionIn(makeOffer(first)) + places.map((place) => streamsIn(makeOffer(place))).join('');
}

/** What the other side made of our description. */
export function acceptRecording(
  answer: SessionDescription,
  { places, bound }: Pick<RecordingPlaces, 'places' | 'bound'>,
): (TakenStream | null)[] {
  return answer.media.map((stream, i) => {
    const place = isOpen(stream) ? (bound[i] ?? null) : null;
    const local = place === null ? undefined : places[place];
    if (place === null || local === undefined) return null;
    const remote = orNull(() => acceptAnswer({ ...answer, media: [stream] }, local));
    return remote === null ? null : { place, remote, label: labelOf(stream) };
  });
}

function tryAnswer(
  offer: SessionDescription,
  stream: MediaDescription,
  local: LocalMedia,
  preferred: RtpCodecName | null,
): { sdp: string; remote: RemoteMedia } | null {
  const alone = { ...offer, media: [stream] };
  const codecs = local.codecs.filter((name) => name === preferred);
  const wanted = codecs.length === 0 ? null : orNull(() => answerOffer(alone, { ...local, codecs }));
  return wanted ?? orNull(() => answerOffer(alone, local));
}

/** A stream that we cannot take is no reason to refuse the others. */
function orNull<T>(agree: () => T): T | null {
  try {
    return agree();
  } catch (error) {
    if (error instanceof TrunklineError && error.code === 'codec_unsupported') return null;
    throw error;
  }
}

function labelOf(stream: MediaDescription): string | null {
  const label = attribute(stream, 'label');
  return label !== null && LABEL.test(label) ? label : null;
}

/** A description up to its first stream. */
function sessionIn(sdp: string): string {
  return sdp.slice(0, firstStreamIn(sdp));
}

function streamsIn(sdp: string): string {
  return sdp.slice(firstStreamIn(sdp));
}

function firstStreamIn(sdp: string): number {
  const at = sdp.indexOf('\r\nm=');
  return at < 0 ? sdp.length : at + 2;
}
