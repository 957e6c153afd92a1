/**
 * Units of telephony audio. Durations are milliseconds, rates hertz, sizes samples or bytes; the name of a value says
 * which. Frame and byte counts are always derived from a {@link Codec}: no other file knows that 20 ms of µ-law are 160
 * bytes.
 */

/** How samples travel on a carrier's wire: name, sampling rate, channels and bytes per sample of one channel. */
export interface Codec {
  readonly name: 'mulaw' | 'alaw' | 'pcm16';
  readonly rateHz: number;
  readonly channels: number;
  readonly bytesPerSample: number;
}

/** G.711 µ-law at 8 kHz mono, the only codec of Twilio Media Streams. */
export const MULAW_8K: Codec = Object.freeze({ name: 'mulaw', rateHz: 8000, channels: 1, bytesPerSample: 1 });

/** G.711 A-law at 8 kHz mono. */
export const ALAW_8K: Codec = Object.freeze({ ...MULAW_8K, name: 'alaw' });

/** Linear samples at 16 kHz mono: wideband sound as a call has it inside, whatever codec carries it. */
export const LINEAR_16K: Codec = Object.freeze({ name: 'pcm16', rateHz: 16_000, channels: 1, bytesPerSample: 2 });

/** The duration of one frame on a telephony wire, in ms, where the carrier does not say otherwise. */
export const FRAME_MS = 20;

/** Milliseconds → whole samples at `rateHz`, rounded to the nearest. */
export function msToSamples(durationMs: number, rateHz: number): number {
  return Math.round((durationMs * rateHz) / 1000);
}

/** Samples at `rateHz` → milliseconds (may be fractional). */
export function samplesToMs(samples: number, rateHz: number): number {
  return (samples * 1000) / rateHz;
}

/** Bytes that `durationMs` of audio take in `codec`. */
export function msToBytes(durationMs: number, codec: Codec): number {
  return msToSamples(durationMs, codec.rateHz) * codec.channels * codec.bytesPerSample;
}

/** Samples per channel held by `bytes` bytes of `codec`; a trailing incomplete sample does not count. */
export function bytesToSamples(bytes: number, codec: Codec): number {
  return Math.floor(bytes / (codec.channels * codec.bytesPerSample));
}

/** Milliseconds of audio in `bytes` bytes of `codec`. */
export function bytesToMs(bytes: number, codec: Codec): number {
  return samplesToMs(bytesToSamples(bytes, codec), codec.rateHz);
}
