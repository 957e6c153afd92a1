/**
 * Whether sound that is said to be 8 kHz linear is that, or µ-law or A-law under a wrong name: AudioSocket's channel
 * driver puts whatever its channel speaks under the kind of linear sound. A length of 20 ms companded is a hint and no
 * more, for a phone that sends 10 ms gives linear messages as long. What settles it is that sound read as what it is
 * not is loud and rough, most of all where it is quiet.
 */
import { frameBytes } from '../audio/frames.ts';
import { decodeG711 } from '../audio/g711.ts';
import { samplesToPcm16 } from '../audio/pcm.ts';
import { type Codec, MULAW_8K } from '../foundation/units.ts';

const LINEAR: Codec = Object.freeze({ name: 'pcm16', rateHz: MULAW_8K.rateHz, channels: 1, bytesPerSample: 2 });
const ALAW: Codec = Object.freeze({ ...MULAW_8K, name: 'alaw' });
/** How much better (a factor) companded sound must read than linear when its length does not speak for it. */
const LINEAR_BIAS = Math.log(4);
/** What reads better than the others by this factor is right for the rest of the call. */
const SETTLED = Math.log(1e9);

/** One way of reading what comes, and how unlikely it is: the logarithm of {@link roughness}, added up. */
interface Reading {
  readonly codec: Codec;
  unlikely: number;
}

/** Reads the sound of one connection. */
export class CompandingReader {
  readonly #linear: Reading = { codec: LINEAR, unlikely: 0 };
  readonly #companded: readonly Reading[] = [
    { codec: MULAW_8K, unlikely: LINEAR_BIAS },
    { codec: ALAW, unlikely: LINEAR_BIAS },
  ];
  #settled: Codec | null = null;

  /** `payload` as linear PCM at 8 kHz, by what all sound so far speaks for; itself when it is that already. */
  toLinear(payload: Uint8Array): Uint8Array {
    const codec = this.#settled ?? this.#judge(payload);
    return codec === LINEAR ? payload : samplesToPcm16(decodeG711(payload, codec));
  }

  #judge(payload: Uint8Array): Codec {
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
