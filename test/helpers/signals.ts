/**
 * What a phone line carries besides speech, made by arithmetic: 8 kHz mono, 16-bit. None of it may ever become a
 * caption.
 */

export const LINE_RATE_HZ = 8000;

const FULL_SCALE = 32_767;
const DTMF_ROWS_HZ = [697, 770, 852, 941];
const DTMF_COLUMNS_HZ = [1209, 1336, 1477, 1633];

interface Cadence {
  readonly onMs: number;
  readonly offMs: number;
}

/** The named signals, each `seconds` long. The same seed gives the same noise. */
export function nonSpeechSignals(seconds: number, seed = 3): Readonly<Record<string, Int16Array>> {
  const random = gaussian(seed);
  return {
    'digital silence': new Int16Array(seconds * LINE_RATE_HZ),
    'line noise −66 dB': noise(seconds, 0.0005, random),
    'line noise −50 dB': noise(seconds, 0.003, random),
    'white noise −30 dB': noise(seconds, 0.03, random),
    'white noise −20 dB': noise(seconds, 0.1, random),
    'pink noise −30 dB': pinkNoise(seconds, 0.03, random),
    'ringback, North America': tones(seconds, [440, 480], 0.1, { onMs: 2000, offMs: 4000 }),
    'ringback, United Kingdom': tones(seconds, [400, 450], 0.1, { onMs: 400, offMs: 200 }),
    'busy tone': tones(seconds, [480, 620], 0.1, { onMs: 500, offMs: 500 }),
    'dial tone': tones(seconds, [350, 440], 0.1),
    'fax calling tone': tones(seconds, [1100], 0.2, { onMs: 500, offMs: 3000 }),
    'voicemail beep': tones(seconds, [1000], 0.2, { onMs: 300, offMs: 1000 }),
    'DTMF digits': dtmfDigits(seconds),
    'hold music (chords)': holdMusic(seconds),
  };
}

/** A sum of sine tones at `level` (0–1 of full scale each), switched by `cadence`. */
export function tones(seconds: number, frequenciesHz: readonly number[], level: number, cadence?: Cadence): Int16Array {
  return generate(seconds, (timeS) => {
    if (cadence !== undefined && (timeS * 1000) % (cadence.onMs + cadence.offMs) >= cadence.onMs) return 0;
    return frequenciesHz.reduce((sum, hz) => sum + Math.sin(2 * Math.PI * hz * timeS), 0) * level;
  });
}

function dtmfDigits(seconds: number): Int16Array {
  return generate(seconds, (timeS) => {
    if (timeS % 0.2 >= 0.1) return 0;
    const digit = (Math.floor(timeS / 0.2) * 7) % 16;
    const rowHz = DTMF_ROWS_HZ[digit >> 2] ?? 0;
    const columnHz = DTMF_COLUMNS_HZ[digit & 3] ?? 0;
    return 0.2 * (Math.sin(2 * Math.PI * rowHz * timeS) + Math.sin(2 * Math.PI * columnHz * timeS));
  });
}

/** Three-part chords with decaying notes and a bass: a stand-in for music on hold. */
function holdMusic(seconds: number): Int16Array {
  const chords = [
    [261.6, 329.6, 392.0, 130.8],
    [220.0, 261.6, 329.6, 110.0],
    [174.6, 220.0, 261.6, 87.3],
    [196.0, 246.9, 293.7, 98.0],
  ];
  return generate(seconds, (timeS) => {
    const chord = chords[Math.floor(timeS / 2) % chords.length] ?? [];
    const decay = Math.exp(-2 * (timeS % 0.5));
    return (
      chord.reduce(
        (sum, hz) => sum + Math.sin(2 * Math.PI * hz * timeS) + 0.3 * Math.sin(4 * Math.PI * hz * timeS),
        0,
      ) *
      0.06 *
      decay
    );
  });
}

function noise(seconds: number, rms: number, random: () => number): Int16Array {
  return generate(seconds, () => random() * rms);
}

/** White noise through Paul Kellet's economy filter (−3 dB per octave), scaled to `rms` (0–1 of full scale). */
export function pinkNoise(seconds: number, rms: number, random: () => number): Int16Array {
  const raw = new Float64Array(seconds * LINE_RATE_HZ);
  let low = 0;
  let middle = 0;
  let high = 0;
  for (let i = 0; i < raw.length; i++) {
    const white = random();
    low = 0.99765 * low + white * 0.099046;
    middle = 0.963 * middle + white * 0.2965164;
    high = 0.57 * high + white * 1.0526913;
    raw[i] = low + middle + high + white * 0.1848;
  }
  const actualRms = Math.sqrt(raw.reduce((sum, value) => sum + value * value, 0) / raw.length);
  return Int16Array.from(raw, (value) => clip((value / actualRms) * rms));
}

function generate(seconds: number, valueAt: (timeS: number) => number): Int16Array {
  const samples = new Int16Array(seconds * LINE_RATE_HZ);
  for (let i = 0; i < samples.length; i++) samples[i] = clip(valueAt(i / LINE_RATE_HZ));
  return samples;
}

function clip(value: number): number {
  return Math.max(-FULL_SCALE, Math.min(FULL_SCALE, Math.round(value * FULL_SCALE)));
}

/** Uniform numbers from 0 to 1 (mulberry32): the same seed gives the same sequence on every machine. */
export function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Normally distributed numbers, mean 0 and deviation 1 (Box–Muller). */
export function gaussian(seed: number): () => number {
  const random = uniform(seed);
  return () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
}
