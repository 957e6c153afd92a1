/**
 * G.711 companding (ITU-T G.711, 11/1988) by tables that are built once with the package `alawmulaw`. Its encoder
 * follows the decision values of the recommendation. At the edges of segments these are not the midpoints between two
 * output values, so a few inputs there must not get the nearest code.
 */
import alawmulaw from 'alawmulaw';
import type { Codec } from '../foundation/units.ts';
import { pcm16ToSamples, samplesToPcm16 } from './pcm.ts';

interface Law {
  decodeSample(code: number): number;
  encodeSample(sample: number): number;
}

interface Tables {
  /** Code → sample. */
  readonly decode: Int16Array;
  /** The 16 bits of a sample, unsigned → code. */
  readonly encode: Uint8Array;
}

function buildTables(law: Law): Tables {
  const decode = Int16Array.from({ length: 256 }, (_, code) => law.decodeSample(code));
  const encode = Uint8Array.from({ length: 65_536 }, (_, bits) => law.encodeSample((bits << 16) >> 16));
  return { decode, encode };
}

const TABLES = Object.freeze({ mulaw: buildTables(alawmulaw.mulaw), alaw: buildTables(alawmulaw.alaw) });

/** Bytes of `codec` → samples, interleaved if it has several channels. Never returns `bytes` itself. */
export function decodeG711(bytes: Uint8Array, codec: Codec): Int16Array {
  if (codec.name === 'pcm16') return pcm16ToSamples(bytes);
  const table = TABLES[codec.name].decode;
  const samples = new Int16Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) samples[i] = table[bytes[i] as number] as number;
  return samples;
}

/** Samples → bytes of `codec`. */
export function encodeG711(samples: Int16Array, codec: Codec): Uint8Array {
  if (codec.name === 'pcm16') return samplesToPcm16(samples);
  const table = TABLES[codec.name].encode;
  const bytes = new Uint8Array(samples.length);
  for (let i = 0; i < samples.length; i++) bytes[i] = table[(samples[i] as number) & 0xffff] as number;
  return bytes;
}
