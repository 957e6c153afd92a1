/**
 * Offers and answers of one telephone call: RFC 3264, with RFC 4733 (telephone-event) and RFC 5761 (rtcp-mux). One
 * audio stream; other streams of an offer are refused in the answer, and an offer without it is refused whole.
 */
import { TrunklineError } from '../../../foundation/errors.ts';
import { FRAME_MS } from '../../../foundation/units.ts';
import {
  acceptSecurity,
  answerSecurity,
  type LocalSecurity,
  offeredLines,
  offeredProtocol,
  type SrtpKeys,
  type StreamSecurity,
} from './crypto-lines.ts';
import {
  answerFormats,
  chooseCodec,
  type EventFormat,
  offerFormats,
  type RtpCodecName,
  type RtpFormat,
  type StreamCodec,
} from './rtp-codecs.ts';
import { attribute, type Direction, type MediaDescription, type SessionDescription } from './session-description.ts';

/** The line of a stream without a port. */
const REFUSED = /^m=\S+ 0 /;

/** Our own side of the stream. */
export interface LocalMedia {
  /** Where we can be reached, as the other side sees it. */
  readonly address: string;
  readonly port: number;
  /** Numbers of our `o=` line: decimal, the version grows by one with each change ({@link countVersion}). */
  readonly sessionId: string;
  readonly version: number;
  /** What we take, best first in an offer; an answer takes what {@link chooseCodec} finds best. */
  readonly codecs: readonly RtpCodecName[];
  readonly direction: Direction;
  readonly security: LocalSecurity;
}

/** What was agreed, as the media side needs it. */
export interface RemoteMedia {
  readonly address: string;
  readonly port: number;
  /** null = RTCP comes and goes on the RTP port. */
  readonly rtcpPort: number | null;
  readonly payloadType: number;
  readonly format: RtpFormat;
  /** What the other side wishes of our sound in this format (`a=fmtp`), names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Length of the packets that the other side wishes to get. */
  readonly ptimeMs: number;
  /** How keys travel; null = as tones. */
  readonly events: EventFormat | null;
  /** The other side takes comfort noise (RFC 3389). */
  readonly comfortNoise: boolean;
  /** The other side sends to us. */
  readonly sends: boolean;
  /** We may send to the other side. */
  readonly receives: boolean;
  /** The keys of SRTP; null = packets are not secured. */
  readonly srtp: SrtpKeys | null;
}

/** A stream that we can take, with what was chosen of it. */
interface Chosen extends StreamCodec {
  readonly stream: MediaDescription;
  readonly security: StreamSecurity;
}

/**
 * The answer to an offer: the first stream and codec in it that we take, under the offer's payload numbers; other
 * streams are refused with port 0.
 * @throws TrunklineError `codec_unsupported` when there is none (SIP's 488)
 */
export function answerOffer(offer: SessionDescription, local: LocalMedia): { sdp: string; remote: RemoteMedia } {
  const chosen = choose(offer, local, 'offer');
  const direction = answerDirection(chosen.stream, local.direction);
  const streams = offer.media.map((stream) => {
    if (stream === chosen.stream) return writeStream(chosen, local, direction);
    return [`m=${stream.kind} 0 ${stream.protocol} ${stream.formats.join(' ')}`];
  });
  return { sdp: writeSession(local, streams), remote: remoteOf(chosen, direction) };
}

/**
 * An offer of all codecs of `local`, and of keys as events. `previous` = our description until now: streams that it
 * refused stay in their places, refused (RFC 3264 §8).
 */
export function makeOffer(local: LocalMedia, previous: string | null = null): string {
  const { numbers, lines } = offerFormats(local.codecs);
  const stream = [
    `m=audio ${local.port} ${offeredProtocol(local.security)} ${numbers.join(' ')}`,
    ...lines,
    ...offeredLines(local.security),
    `a=ptime:${FRAME_MS}`,
    `a=${local.direction}`,
  ];
  const places = previous?.match(/^m=.*$/gm) ?? [''];
  return writeSession(
    local,
    places.map((line) => (REFUSED.test(line) ? [line] : stream)),
  );
}

/**
 * What the other side made of our offer.
 * @throws TrunklineError `codec_unsupported` when it refused the stream or took a codec that we did not offer
 */
export function acceptAnswer(answer: SessionDescription, local: LocalMedia): RemoteMedia {
  const chosen = choose(answer, local, 'answer');
  return remoteOf(chosen, answerDirection(chosen.stream, local.direction));
}

/**
 * `sdp` with the version that its `o=` line must have: that of `previous` if they say the same, else one more (RFC 3264
 * §8).
 */
export function countVersion(sdp: string, previous: string | null): string {
  if (previous === null) return sdp;
  const version = Number(/^o=\S+ \d+ (\d+)/m.exec(previous)?.[1] ?? 0);
  const same = setVersion(sdp, version);
  return same === previous ? same : setVersion(sdp, version + 1);
}

function setVersion(sdp: string, version: number): string {
  return sdp.replace(/^(o=\S+ \d+) \d+/m, `$1 ${version}`);
}

/** The first stream that we take; among those that we take, the first one that is secured. */
function choose(description: SessionDescription, local: LocalMedia, of: 'offer' | 'answer'): Chosen {
  const find = of === 'offer' ? answerSecurity : acceptSecurity;
  const takable = description.media.flatMap((stream) => {
    const security = stream.kind === 'audio' && stream.port !== 0 ? find(stream, local.security) : null;
    const codec = security === null ? null : chooseCodec(stream, local.codecs, of);
    return security === null || codec === null ? [] : [{ ...codec, stream, security }];
  });
  const chosen = takable.find(({ security }) => security.keys !== null) ?? takable[0];
  if (chosen !== undefined) return chosen;
  const protocols = { off: 'RTP/AVP', allow: 'RTP/AVP or RTP/SAVP', require: 'RTP/SAVP' };
  throw new TrunklineError(
    'codec_unsupported',
    `got ${description.media.length} streams none of which is ${protocols[local.security.policy]} with ` +
      `${local.codecs.join(' or ')}, expected one`,
  );
}

/** Hold as phones before RFC 3264 did it: an address that nobody has. */
function isHeld({ address }: MediaDescription): boolean {
  return address === '0.0.0.0' || address === '::';
}

function sends(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'sendonly';
}

function receives(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'recvonly';
}

function answerDirection(stream: MediaDescription, local: Direction): Direction {
  const weSend = receives(stream.direction) && sends(local) && !isHeld(stream);
  const weReceive = sends(stream.direction) && receives(local);
  if (weSend) return weReceive ? 'sendrecv' : 'sendonly';
  return weReceive ? 'recvonly' : 'inactive';
}

function remoteOf({ stream, security, ...chosen }: Chosen, ours: Direction): RemoteMedia {
  return {
    ...chosen,
    address: stream.address,
    port: stream.port,
    rtcpPort: rtcpPortOf(stream),
    sends: receives(ours),
    receives: sends(ours),
    srtp: security.keys,
  };
}

function isMultiplexed({ attributes }: MediaDescription): boolean {
  return attributes.some(({ name }) => name === 'rtcp-mux');
}

function rtcpPortOf(stream: MediaDescription): number | null {
  if (isMultiplexed(stream)) return null;
  const named = Number(/^\d{1,5}/.exec(attribute(stream, 'rtcp') ?? '')?.[0] ?? 0);
  if (named > 0 && named <= 65_535) return named;
  return Math.min(stream.port + 1, 65_535);
}

function writeSession(local: LocalMedia, streams: readonly (readonly string[])[]): string {
  const address = `IN ${local.address.includes(':') ? 'IP6' : 'IP4'} ${local.address}`;
  const session = ['v=0', `o=- ${local.sessionId} ${local.version} ${address}`, 's=-', `c=${address}`, 't=0 0'];
  return `${[...session, ...streams.flat()].join('\r\n')}\r\n`;
}

function writeStream(chosen: Chosen, local: LocalMedia, ours: Direction): string[] {
  const { stream, ptimeMs } = chosen;
  const { numbers, lines } = answerFormats(chosen);
  return [
    `m=audio ${local.port} ${stream.protocol} ${numbers.join(' ')}`,
    ...lines,
    ...chosen.security.lines,
    `a=ptime:${ptimeMs}`,
    ...(isMultiplexed(stream) ? ['a=rtcp-mux'] : []),
    `a=${ours}`,
  ];
}
