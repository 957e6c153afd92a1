/** What is in the packets of each codec of RTP: mono samples at the rate that a call has its sound in. */
import { decodeG711, encodeG711 } from '../../../../audio/g711.ts';
import { G722Decoder, G722Encoder } from '../../../../audio/g722.ts';
import { OpusDecoder, OpusEncoder } from '../../../../audio/opus.ts';
import type { RtpFormat } from '../rtp-codecs.ts';

/** Both of ours: what wideband speech needs (RFC 7587 §3.1.1), with room for what makes up for lost packets. */
const OPUS_RATE_HZ = 16_000;
const OPUS_BITS_PER_SECOND = 28_000;
const OPUS_BITS_MIN = 6000;
/** More work than this makes speech hardly better: 0.12 ms for a packet of 20 ms instead of 0.25 ms. */
const OPUS_COMPLEXITY = 5;
/** Losses that are made up for where the other side wishes it. */
const OPUS_LOSS_PERCENT = 10;

/** Decodes one stream, whose payloads come in their order. */
export interface PayloadDecoder {
  /** The sound of the next payload; empty when it has none that can be read. */
  decode(payload: Uint8Array): Int16Array;
  /** Sound in place of `lostMs` before the payload `next`; null = the codec cannot know better than others. */
  readonly conceal: ((lostMs: number, next: Uint8Array) => Int16Array) | null;
  close(): void;
}

/** Encodes one stream. */
export interface PayloadEncoder {
  /** One payload of samples that last as long as the codec's packets do. */
  encode(samples: Int16Array): Uint8Array;
  close(): void;
}

const nothing = (): void => undefined;

/** A decoder for a new stream. */
export function payloadDecoder({ name, codec }: RtpFormat): PayloadDecoder {
  if (name === 'opus') {
    const decoder = new OpusDecoder(OPUS_RATE_HZ);
    return {
      decode: (payload) => decoder.decode(payload),
      conceal: (lostMs, next) => decoder.conceal(lostMs, next),
      close: () => decoder.close(),
    };
  }
  if (name === 'g722') {
    const decoder = new G722Decoder();
    return { decode: (payload) => decoder.decode(payload), conceal: null, close: nothing };
  }
  return { decode: (payload) => decodeG711(payload, codec), conceal: null, close: nothing };
}

/** An encoder for a new stream. `parameters` = what the receiver wishes (`a=fmtp`), names in lower case. */
export function payloadEncoder({ name, codec }: RtpFormat, parameters: ReadonlyMap<string, string>): PayloadEncoder {
  if (name === 'opus') {
    const encoder = opusEncoder(parameters);
    return { encode: (samples) => encoder.encode(samples), close: () => encoder.close() };
  }
  if (name === 'g722') {
    const encoder = new G722Encoder();
    return { encode: (samples) => encoder.encode(samples), close: nothing };
  }
  return { encode: (samples) => encodeG711(samples, codec), close: nothing };
}

/** RFC 7587 §6.1. */
function opusEncoder(parameters: ReadonlyMap<string, string>): OpusEncoder {
  const number = (name: string): number | null => {
    const text = parameters.get(name) ?? '';
    return /^\d{1,7}$/.test(text) ? Number(text) : null;
  };
  return new OpusEncoder({
    rateHz: OPUS_RATE_HZ,
    bitsPerSecond: Math.max(
      Math.min(number('maxaveragebitrate') ?? OPUS_BITS_PER_SECOND, OPUS_BITS_PER_SECOND),
      OPUS_BITS_MIN,
    ),
    complexity: OPUS_COMPLEXITY,
    lossPercent: number('useinbandfec') === 1 ? OPUS_LOSS_PERCENT : 0,
    dtx: number('usedtx') === 1,
    constantBitRate: number('cbr') === 1,
    playbackHz: number('maxplaybackrate') ?? OPUS_RATE_HZ,
  });
}
