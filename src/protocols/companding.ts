/**
 * Detects whether audio that is labelled as 8 kHz linear is in fact µ-law or A-law: AudioSocket's channel driver sends
 * audio in the codec of its channel under the kind of linear audio. The length of a 20 ms companded message is only a
 * hint, because 10 ms of linear audio are as long. The proof is that audio decoded with the wrong codec is loud and
 * rough, above all where it is quiet.
 */
import { frameBytes } from '../audio/frames.ts';
import { decodeG711 } from '../audio/g711.ts';
import { samplesToPcm16 } from '../audio/pcm.ts';
import { type Codec, MULAW_8K } from '../foundation/units.ts';

const LINEAR: Codec = Object.freeze({ name: 'pcm16', rateHz: MULAW_8K.rateHz, channels: 1, bytesPerSample: 2 });
const ALAW: Codec = Object.freeze({ ...MULAW_8K, name: 'alaw' });
/** The factor by which a companded reading must be smoother than the linear one if the length is no hint. */
const LINEAR_BIAS = Math.log(4);
/** A reading that is smoother than the others by this factor is used for the rest of the call. */
const SETTLED = Math.log(1e9);

/** One codec for reading the audio, and how unlikely it is: the sum of the logarithms of {@link roughness}. */
interface Reading {
  readonly codec: Codec;
  unlikely: number;
}

/** Reads the audio of one connection. */
export class CompandingReader {
  readonly #linear: Reading = { codec: LINEAR, unlikely: 0 };
  readonly #companded: readonly Reading[] = [
    { codec: MULAW_8K, unlikely: LINEAR_BIAS },
    { codec: ALAW, unlikely: LINEAR_BIAS },
  ];
  #settled: Codec | null = null;

  /** Returns `payload` as linear PCM at 8 kHz, read with the codec that fits all audio so far best. */
  toLinear(payload: Uint8Array): Uint8Array {
    const codec = this.#settled ?? this.#detect(payload);
    return codec === LINEAR ? payload : samplesToPcm16(decodeG711(payload, codec));
  }

  #detect(payload: Uint8Array): Codec {
    const hint = payload.length === frameBytes(MULAW_8K) ? LINEAR_BIAS : 0;
    const readings = [this.#linear, ...this.#companded];
    for (const reading of readings) reading.unlikely += Math.log1p(roughness(decodeG711(payload, reading.codec)));
    const ranked = readings
      .map((reading) => ({ codec: reading.codec, unlikely: reading.unlikely - (reading === this.#linear ? 0 : hint) }))
      .sort((a, b) => a.unlikely - b.unlikely);
    const [best, second] = ranked;
    if (best === undefined || second === undefined) return LINEAR;
    if (second.unlikely - best.unlikely > SETTLED) this.#settled = best.codec;
    return best.codec;
  }
}

/** The mean size of samples and of the steps between them. */
function roughness(samples: Int16Array): number {
  let sum = 0;
  let last = 0;
  for (const sample of samples) {
    sum += Math.abs(sample) + Math.abs(sample - last);
    last = sample;
  }
  return sum / Math.max(samples.length, 1);
}
