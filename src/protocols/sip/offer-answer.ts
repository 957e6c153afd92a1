/**
 * Offers and answers of one telephone call: RFC 3264, with RFC 4733 (telephone-event) and RFC 5761 (rtcp-mux). One
 * audio stream of G.711; other streams of an offer are refused in the answer, and an offer without it is refused whole.
 */
import { TrunklineError } from '../../foundation/errors.ts';
import { ALAW_8K, type Codec, FRAME_MS, MULAW_8K } from '../../foundation/units.ts';
import {
  acceptSecurity,
  answerSecurity,
  type LocalSecurity,
  offeredLines,
  offeredProtocol,
  type SrtpKeys,
  type StreamSecurity,
} from './crypto-lines.ts';
import { attribute, type Direction, type MediaDescription, type SessionDescription } from './session-description.ts';

/** The payload number under which we offer keys. */
const OFFERED_EVENT_TYPE = 101;
const EVENT_NAME = 'telephone-event';
/** Keys 0–9, `*`, `#` and A–D (RFC 4733 §3.2). */
const EVENTS = '0-15';
const PTIME_MIN_MS = 10;
const PTIME_MAX_MS = 60;
const PTIME_STEP_MS = 10;

/** The G.711 codecs by what a description calls them, and their static payload numbers (RFC 3551 §6). */
const CODECS = [
  { name: 'mulaw', encoding: 'PCMU', payloadType: 0, codec: MULAW_8K },
  { name: 'alaw', encoding: 'PCMA', payloadType: 8, codec: ALAW_8K },
] as const;

/** Our own side of the stream. */
export interface LocalMedia {
  /** Where we can be reached, as the other side sees it. */
  readonly address: string;
  readonly port: number;
  /** Numbers of our `o=` line: decimal, the version grows by one with each change ({@link countVersion}). */
  readonly sessionId: string;
  readonly version: number;
  /** What we take, best first in an offer; in an answer the other side's order counts. */
  readonly codecs: readonly ('mulaw' | 'alaw')[];
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
  readonly codec: Codec;
  /** Length of the packets that the other side wishes to get. */
  readonly ptimeMs: number;
  /** The payload number of keys; null = they travel as tones. */
  readonly telephoneEventType: number | null;
  /** The other side sends to us. */
  readonly sends: boolean;
  /** We may send to the other side. */
  readonly receives: boolean;
  /** The keys of SRTP; null = packets are not secured. */
  readonly srtp: SrtpKeys | null;
}

/** A stream that we can take, with what was chosen of it. */
interface Chosen {
  readonly stream: MediaDescription;
  readonly payloadType: number;
  readonly codec: (typeof CODECS)[number];
  readonly telephoneEventType: number | null;
  readonly ptimeMs: number;
  readonly security: StreamSecurity;
}

/** How a stream can be taken; null = not at all. */
type FindSecurity = (stream: MediaDescription, local: LocalSecurity) => StreamSecurity | null;

/**
 * The answer to an offer: the first stream and codec in it that we take, under the offer's payload numbers; other
 * streams are refused with port 0.
 * @throws TrunklineError `codec_unsupported` when there is none (SIP's 488)
 */
export function answerOffer(offer: SessionDescription, local: LocalMedia): { sdp: string; remote: RemoteMedia } {
  const chosen = choose(offer, local, answerSecurity);
  const direction = answerDirection(chosen.stream, local.direction);
  const streams = offer.media.map((stream) => {
    if (stream === chosen.stream) return writeStream(chosen, local, direction);
    return [`m=${stream.kind} 0 ${stream.protocol} ${stream.formats.join(' ')}`];
  });
  return { sdp: writeSession(local, streams), remote: remoteOf(chosen, direction) };
}

/** An offer of all codecs of `local`, and of keys as events. */
export function makeOffer(local: LocalMedia): string {
  const codecs = local.codecs.flatMap((name) => CODECS.filter((codec) => codec.name === name));
  const lines = [
    `m=audio ${local.port} ${offeredProtocol(local.security)} ${codecs.map(({ payloadType }) => payloadType).join(' ')} ${OFFERED_EVENT_TYPE}`,
    ...codecs.map(({ payloadType, encoding, codec }) => `a=rtpmap:${payloadType} ${encoding}/${codec.rateHz}`),
    ...eventLines(OFFERED_EVENT_TYPE),
    ...offeredLines(local.security),
    `a=ptime:${FRAME_MS}`,
    `a=${local.direction}`,
  ];
  return writeSession(local, [lines]);
}

/**
 * What the other side made of our offer.
 * @throws TrunklineError `codec_unsupported` when it refused the stream or took a codec that we did not offer
 */
export function acceptAnswer(answer: SessionDescription, local: LocalMedia): RemoteMedia {
  const chosen = choose(answer, local, acceptSecurity);
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
function choose(description: SessionDescription, local: LocalMedia, find: FindSecurity): Chosen {
  const takable = description.media.flatMap((stream) => {
    const security = stream.kind === 'audio' && stream.port !== 0 ? find(stream, local.security) : null;
    const codec = security === null ? null : findCodec(stream, local.codecs);
    return security === null || codec === null ? [] : [{ ...codec, stream, security }];
  });
  const chosen = takable.find(({ security }) => security.keys !== null) ?? takable[0];
  if (chosen !== undefined)
    return { ...chosen, telephoneEventType: findEvents(chosen.stream), ptimeMs: findPtime(chosen.stream) };
  const protocols = { off: 'RTP/AVP', allow: 'RTP/AVP or RTP/SAVP', require: 'RTP/SAVP' };
  throw new TrunklineError(
    'codec_unsupported',
    `got ${description.media.length} streams none of which is ${protocols[local.security.policy]} with ` +
      `${local.codecs.join(' or ')}, expected one`,
  );
}

function findCodec(
  stream: MediaDescription,
  allowed: LocalMedia['codecs'],
): Pick<Chosen, 'payloadType' | 'codec'> | null {
  for (const format of stream.formats) {
    const payloadType = readPayloadType(format);
    const encoding = payloadType === null ? null : encodingOf(stream, payloadType);
    const codec = CODECS.find(
      (each) => allowed.includes(each.name) && `${each.encoding}/${each.codec.rateHz}` === encoding,
    );
    if (payloadType !== null && codec !== undefined) return { payloadType, codec };
  }
  return null;
}

function readPayloadType(format: string): number | null {
  return /^\d{1,3}$/.test(format) && Number(format) <= 127 ? Number(format) : null;
}

/** `PCMU/8000` and so on: as the description says, or by the static number. One channel may be said or left out. */
function encodingOf(stream: MediaDescription, payloadType: number): string | null {
  for (const { name, value } of stream.attributes) {
    const [, number, encoding, rate] =
      (name === 'rtpmap' && /^(\d{1,3}) ([^/\s]+)\/(\d+)(?:\/1)?$/.exec(value ?? '')) || [];
    if (encoding !== undefined && Number(number) === payloadType) return `${encoding.toUpperCase()}/${rate}`;
  }
  const known = CODECS.find((each) => each.payloadType === payloadType);
  return known === undefined ? null : `${known.encoding}/${known.codec.rateHz}`;
}

function findEvents(stream: MediaDescription): number | null {
  const wanted = `${EVENT_NAME}/${MULAW_8K.rateHz}`.toUpperCase();
  const numbers = stream.formats.flatMap((format) => readPayloadType(format) ?? []);
  return numbers.find((number) => encodingOf(stream, number) === wanted) ?? null;
}

function findPtime(stream: MediaDescription): number {
  const wish = readMs(stream, 'ptime') ?? FRAME_MS;
  const ptime = wish >= PTIME_MIN_MS && wish <= PTIME_MAX_MS && wish % PTIME_STEP_MS === 0 ? wish : FRAME_MS;
  const most = readMs(stream, 'maxptime') ?? PTIME_MAX_MS;
  return most < PTIME_MIN_MS ? ptime : Math.min(ptime, most - (most % PTIME_STEP_MS));
}

function readMs(stream: MediaDescription, name: string): number | null {
  const text = attribute(stream, name) ?? '';
  return /^\d{1,5}$/.test(text) ? Number(text) : null;
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

function remoteOf(
  { stream, payloadType, codec, telephoneEventType, ptimeMs, security }: Chosen,
  ours: Direction): RemoteMedia {
  return {
    address: stream.address,
    port: stream.port,
    rtcpPort: rtcpPortOf(stream),
    payloadType,
    codec: codec.codec,
    ptimeMs,
    telephoneEventType,
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

function writeStream(
  { stream, payloadType, codec, telephoneEventType, ptimeMs, security }: Chosen,
  local: LocalMedia,
  ours: Direction,
): string[] {
  const formats = telephoneEventType === null ? [payloadType] : [payloadType, telephoneEventType];
  return [
    `m=audio ${local.port} ${stream.protocol} ${formats.join(' ')}`,
    `a=rtpmap:${payloadType} ${codec.encoding}/${codec.codec.rateHz}`,
    ...(telephoneEventType === null ? [] : eventLines(telephoneEventType)),
    ...security.lines,
    `a=ptime:${ptimeMs}`,
    ...(isMultiplexed(stream) ? ['a=rtcp-mux'] : []),
    `a=${ours}`,
  ];
}

function eventLines(payloadType: number): string[] {
  return [`a=rtpmap:${payloadType} ${EVENT_NAME}/${MULAW_8K.rateHz}`, `a=fmtp:${payloadType} ${EVENTS}`];
}
