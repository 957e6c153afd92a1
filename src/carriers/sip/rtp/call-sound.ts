/**
 * Between the sound of a call and the payloads of a stream. A call keeps the codec of its first agreement: when another
 * one is agreed later, samples are converted.
 */
import { decodeG711, encodeG711 } from '../../../audio/g711.ts';
import { joinSamples } from '../../../audio/mix.ts';
import { Resampler } from '../../../audio/resample.ts';
import { type Codec, msToSamples } from '../../../foundation/units.ts';
import {
  type PayloadDecoder,
  type PayloadEncoder,
  payloadDecoder,
  payloadEncoder,
} from '../wire/rtp/payload-codecs.ts';
import type { RtpFormat } from '../wire/rtp-codecs.ts';

/** Whether the payloads are the call's sound as they are. */
function isPlain(format: RtpFormat, codec: Codec): boolean {
  return format.name === codec.name && format.codec.rateHz === codec.rateHz;
}

/** Payloads of one stream, in their order → the call's sound. */
export class InboundSound {
  readonly #codec: Codec;
  readonly #isPlain: boolean;
  readonly #decoder: PayloadDecoder;
  readonly #resampler: Resampler | null;

  constructor(format: RtpFormat, codec: Codec) {
    this.#codec = codec;
    this.#isPlain = isPlain(format, codec);
    this.#decoder = payloadDecoder(format);
    this.#resampler = format.codec.rateHz === codec.rateHz ? null : new Resampler(format.codec.rateHz, codec.rateHz);
  }

  /** Whether {@link conceal} makes something; payloads must come in their order then. */
  get conceals(): boolean {
    return this.#decoder.conceal !== null;
  }

  decode(payload: Uint8Array): Uint8Array {
    return this.#isPlain ? payload : this.#toCall(this.#decoder.decode(payload));
  }

  /** Sound in place of `lostMs` of payloads before `next`; empty when the codec cannot know it. */
  conceal(lostMs: number, next: Uint8Array): Uint8Array {
    return this.#toCall(this.#decoder.conceal?.(lostMs, next) ?? new Int16Array(0));
  }

  close(): void {
    this.#decoder.close();
  }

  #toCall(samples: Int16Array): Uint8Array {
    return encodeG711(this.#resampler?.push(samples) ?? samples, this.#codec);
  }
}

/** The call's sound → payloads of one stream. */
export class OutboundSound {
  readonly #codec: Codec;
  readonly #isPlain: boolean;
  readonly #rateHz: number;
  readonly #encoder: PayloadEncoder;
  readonly #resampler: Resampler | null;
  /** Converted and not sent yet. */
  #rest: Int16Array = new Int16Array(0);

  /** `parameters` = what the receiver wishes (`a=fmtp`). */
  constructor(format: RtpFormat, parameters: ReadonlyMap<string, string>, codec: Codec) {
    this.#codec = codec;
    this.#isPlain = isPlain(format, codec);
    this.#rateHz = format.codec.rateHz;
    this.#encoder = payloadEncoder(format, parameters);
    this.#resampler = this.#rateHz === codec.rateHz ? null : new Resampler(codec.rateHz, this.#rateHz);
  }

  /** A payload of `durationMs`, of as much of the call's sound. */
  encode(bytes: Uint8Array, durationMs: number): Uint8Array {
    if (this.#isPlain) return bytes;
    const samples = decodeG711(bytes, this.#codec);
    return this.#encoder.encode(
      this.#resampler === null ? samples : this.#atRate(this.#resampler, samples, durationMs),
    );
  }

  close(): void {
    this.#encoder.close();
  }

  /** A converter gives its first samples late, and then as many as it takes. */
  #atRate(resampler: Resampler, samples: Int16Array, durationMs: number): Int16Array {
    const wanted = msToSamples(durationMs, this.#rateHz);
    const ready = joinSamples([this.#rest, resampler.push(samples)]);
    const missing = Math.max(wanted - ready.length, 0);
    const all = missing === 0 ? ready : joinSamples([new Int16Array(missing), ready]);
    this.#rest = all.slice(wanted);
    return all.subarray(0, wanted);
  }
}
