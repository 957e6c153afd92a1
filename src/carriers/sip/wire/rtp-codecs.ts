/**
 * The codecs of RTP that a call can have, and what a stream's description says of them: payload numbers, clock rates,
 * parameters and packet lengths (RFC 3551 for G.711 and G.722, RFC 7587 for Opus, RFC 4733 for keys).
 */
import { ALAW_8K, type Codec, FRAME_MS, LINEAR_16K, MULAW_8K } from '../../../foundation/units.ts';
import { attribute, type MediaDescription } from './session-description.ts';

const EVENT_NAME = 'telephone-event';
/** Keys 0–9, `*`, `#` and A–D (RFC 4733 §3.2). */
const EVENTS = '0-15';
const EVENT_CLOCK_HZ = 8000;
/** The payload numbers under which we offer keys, by the clock of the sound that they are among (RFC 4733 §2.1). */
const OFFERED_EVENTS: Readonly<Record<number, number>> = { [EVENT_CLOCK_HZ]: 101, 48000: 110 };
/** The static payload number of comfort noise, at 8 kHz (RFC 3551 §6). We take it unasked, and do not offer it. */
export const COMFORT_NOISE_TYPE = 13;
const PTIME_MAX_MS = 60;
/** Packets that samples of 8 kHz can fill. */
const ANY_PTIME_MS = [10, 20, 30, 40, 50, 60] as const;
/** Parameters of one codec that are read; a phone's has at most ten. */
const PARAMETERS_MAX = 32;

/** How a description calls the codecs that we have. */
export type RtpCodecName = 'opus' | 'g722' | 'mulaw' | 'alaw';

/** A codec as RTP has it. */
export interface RtpFormat {
  readonly name: RtpCodecName;
  /** In `a=rtpmap`, as the RFC writes it. */
  readonly encoding: string;
  /** What timestamps count, in Hz. G.722 has 8000 though its sound has 16 kHz (RFC 3551 §4.5.2). */
  readonly clockHz: number;
  /** In `a=rtpmap`. Opus always says 2, whatever it holds (RFC 7587 §7); null = left out. */
  readonly mapChannels: number | null;
  /** Its static payload number, or the one under which we offer it. */
  readonly payloadType: number;
  /** Our `a=fmtp`: what we can do as a receiver; null = none. */
  readonly parameters: string | null;
  /** Lengths that one packet may have, in ms, shortest first. */
  readonly ptimesMs: readonly number[];
  /** How a call has its sound inside. */
  readonly codec: Codec;
}

/** Every codec, by its name. */
export const RTP_FORMATS: Readonly<Record<RtpCodecName, RtpFormat>> = Object.freeze({
  opus: {
    name: 'opus',
    encoding: 'opus',
    clockHz: 48_000,
    mapChannels: 2,
    payloadType: 111,
    parameters: 'maxplaybackrate=16000;sprop-maxcapturerate=16000;minptime=10;useinbandfec=1',
    ptimesMs: [10, 20, 40, 60],
    codec: LINEAR_16K,
  },
  g722: {
    name: 'g722',
    encoding: 'G722',
    clockHz: 8000,
    mapChannels: null,
    payloadType: 9,
    parameters: null,
    ptimesMs: ANY_PTIME_MS,
    codec: LINEAR_16K,
  },
  mulaw: narrow('mulaw', 'PCMU', 0, MULAW_8K),
  alaw: narrow('alaw', 'PCMA', 8, ALAW_8K),
});

/** The first number that has no static meaning (RFC 3551 §6). */
const DYNAMIC_MIN = 96;

function narrow(name: 'mulaw' | 'alaw', encoding: string, payloadType: number, codec: Codec): RtpFormat {
  const { rateHz: clockHz } = codec;
  return {
    name,
    encoding,
    clockHz,
    mapChannels: null,
    payloadType,
    parameters: null,
    ptimesMs: ANY_PTIME_MS,
    codec,
  };
}

/** The payload number of keys, and what their times count. */
export interface EventFormat {
  readonly payloadType: number;
  readonly clockHz: number;
}

/** What a stream says of the codec that was chosen of it. */
export interface StreamCodec {
  readonly payloadType: number;
  readonly format: RtpFormat;
  /** Parameters that the other side wishes (`a=fmtp`), names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** null = keys travel as tones. */
  readonly events: EventFormat | null;
  /** The other side takes comfort noise (RFC 3389) beside this codec, under {@link COMFORT_NOISE_TYPE}. */
  readonly comfortNoise: boolean;
  /** How long packets to the other side shall be. */
  readonly ptimeMs: number;
}

/**
 * The codec of a stream that we take, null when there is none. Of an offer: of those of `allowed` that it lists the
 * first with the widest sound. Of an answer: the first, because that is what the other side will send (RFC 3264 §6.1).
 */
export function chooseCodec(
  stream: MediaDescription,
  allowed: readonly RtpCodecName[],
  of: 'offer' | 'answer',
): StreamCodec | null {
  const found = stream.formats.flatMap((text) => {
    const payloadType = readPayloadType(text);
    const format = payloadType === null ? undefined : formatOf(stream, payloadType, allowed);
    return payloadType === null || format === undefined ? [] : [{ payloadType, format }];
  });
  const widest = Math.max(...found.map(({ format }) => format.codec.rateHz));
  const chosen = found.find(({ format }) => of === 'answer' || format.codec.rateHz === widest);
  if (chosen === undefined) return null;
  const { payloadType, format } = chosen;
  return {
    payloadType,
    format,
    parameters: readParameters(stream, payloadType),
    events: findEvents(stream, format.clockHz),
    comfortNoise: format.codec.rateHz === EVENT_CLOCK_HZ && stream.formats.includes(String(COMFORT_NOISE_TYPE)),
    ptimeMs: findPtime(stream, format),
  };
}

/** The `m=` line's formats and the lines after it that say what they are, for an offer of `names`, best first. */
export function offerFormats(names: readonly RtpCodecName[]): { readonly numbers: number[]; readonly lines: string[] } {
  const formats = names.map((name) => RTP_FORMATS[name]);
  // Keys at 8 kHz are what nearly everybody knows, also beside Opus.
  const clocks = [...new Set([EVENT_CLOCK_HZ, ...formats.map(({ clockHz }) => clockHz)])];
  const events = clocks.flatMap((clockHz) => {
    const payloadType = OFFERED_EVENTS[clockHz];
    return payloadType === undefined ? [] : [{ payloadType, clockHz }];
  });
  return {
    numbers: [...formats, ...events].map(({ payloadType }) => payloadType),
    lines: [...formats.flatMap((format) => formatLines(format.payloadType, format)), ...events.flatMap(eventLines)],
  };
}

/** The same for an answer: what was chosen, under the offer's numbers. */
export function answerFormats({ payloadType, format, events, comfortNoise }: StreamCodec): {
  readonly numbers: number[];
  readonly lines: string[];
} {
  const noise = comfortNoise ? [COMFORT_NOISE_TYPE] : [];
  const numbers = [payloadType, ...noise, ...(events === null ? [] : [events.payloadType])];
  return { numbers, lines: [...formatLines(payloadType, format), ...(events === null ? [] : eventLines(events))] };
}

function formatLines(payloadType: number, { encoding, clockHz, mapChannels, parameters }: RtpFormat): string[] {
  const map = `a=rtpmap:${payloadType} ${encoding}/${clockHz}${mapChannels === null ? '' : `/${mapChannels}`}`;
  return parameters === null ? [map] : [map, `a=fmtp:${payloadType} ${parameters}`];
}

function eventLines({ payloadType, clockHz }: EventFormat): string[] {
  return [`a=rtpmap:${payloadType} ${EVENT_NAME}/${clockHz}`, `a=fmtp:${payloadType} ${EVENTS}`];
}

function readPayloadType(text: string): number | null {
  return /^\d{1,3}$/.test(text) && Number(text) <= 127 ? Number(text) : null;
}

/** As the description says, or by the static number. One channel may be said or left out. */
function formatOf(
  stream: MediaDescription,
  payloadType: number,
  allowed: readonly RtpCodecName[],
): RtpFormat | undefined {
  const formats = allowed.map((name) => RTP_FORMATS[name]);
  const map = mapOf(stream, payloadType);
  if (map === null) return formats.find((each) => each.payloadType === payloadType && payloadType < DYNAMIC_MIN);
  return formats.find(
    ({ encoding, clockHz, mapChannels }) =>
      encoding.toUpperCase() === map.encoding &&
      clockHz === map.clockHz &&
      (map.channels === 1 || map.channels === mapChannels),
  );
}

function mapOf(
  stream: MediaDescription,
  payloadType: number,
): { readonly encoding: string; readonly clockHz: number; readonly channels: number } | null {
  for (const { name, value } of stream.attributes) {
    const [, number, encoding, clockHz, channels = '1'] =
      (name === 'rtpmap' && /^(\d{1,3}) ([^/\s]+)\/(\d{1,6})(?:\/(\d{1,2}))?$/.exec(value ?? '')) || [];
    if (encoding !== undefined && Number(number) === payloadType)
      return { encoding: encoding.toUpperCase(), clockHz: Number(clockHz), channels: Number(channels) };
  }
  return null;
}

/** Of the sound's own clock, or of the one that nearly everybody offers. */
function findEvents(stream: MediaDescription, clockHz: number): EventFormat | null {
  const found = stream.formats.flatMap((text) => {
    const payloadType = readPayloadType(text);
    const map = payloadType === null ? null : mapOf(stream, payloadType);
    const isEvent = map?.encoding === EVENT_NAME.toUpperCase() && map.channels === 1;
    return isEvent && payloadType !== null ? [{ payloadType, clockHz: map.clockHz }] : [];
  });
  return (
    found.find((events) => events.clockHz === clockHz) ??
    found.find((events) => events.clockHz === EVENT_CLOCK_HZ) ??
    null
  );
}

/** `a=fmtp:111 useinbandfec=1;maxaveragebitrate=20000`; a parameter without a value has an empty one. */
function readParameters(stream: MediaDescription, payloadType: number): ReadonlyMap<string, string> {
  const line = stream.attributes.find(
    ({ name, value }) => name === 'fmtp' && value?.split(' ', 1)[0] === String(payloadType),
  )?.value;
  const text = line?.slice(line.indexOf(' ') + 1) ?? '';
  if (line === undefined || line === null || !line.includes(' ')) return new Map();
  const pairs = text.split(';', PARAMETERS_MAX).map((part) => part.trim().split('=', 2));
  return new Map(pairs.flatMap(([name = '', value = '']) => (name === '' ? [] : [[name.toLowerCase(), value.trim()]])));
}

function findPtime(stream: MediaDescription, { ptimesMs }: RtpFormat): number {
  const wish = readMs(stream, 'ptime') ?? FRAME_MS;
  const ptime = ptimesMs.includes(wish) ? wish : FRAME_MS;
  const most = readMs(stream, 'maxptime') ?? PTIME_MAX_MS;
  const fitting = ptimesMs.filter((each) => each <= ptime && each <= most);
  return fitting.at(-1) ?? (most < (ptimesMs[0] ?? 0) ? ptime : FRAME_MS);
}

function readMs(stream: MediaDescription, name: string): number | null {
  const text = attribute(stream, name) ?? '';
  return /^\d{1,5}$/.test(text) ? Number(text) : null;
}
