/** Keys in sound: all that a telephone may send, and nothing of what is no key. */
import { describe, expect, it } from 'vitest';
import { digitTone } from '../../src/audio/dtmf.ts';
import { DtmfDetector } from '../../src/audio/dtmf-detector.ts';
import { decodeG711, encodeG711 } from '../../src/audio/g711.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';

const ALL = '1234567890*#ABCD';
const LOW_HZ = [697, 770, 852, 941];
const HIGH_HZ = [1209, 1336, 1477, 1633];
const KEYS = ['123A', '456B', '789C', '*0#D'];

interface Sent {
  readonly toneMs?: number;
  readonly pauseMs?: number;
  readonly rateHz?: number;
  /** Of each tone, in dBov. */
  readonly lowDb?: number;
  readonly highDb?: number;
  /** Below both tones together; absent = none. */
  readonly noiseDb?: number;
  /** Share by which both frequencies are off. */
  readonly off?: number;
}

/** Uniform noise from −1 to 1, the same each time. */
function noise(): () => number {
  let seed = 1;
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 30 - 1;
  };
}

const amplitude = (db: number): number => 32_768 * Math.SQRT2 * 10 ** (db / 20);

/** Keys as they come off a µ-law line. Each begins elsewhere in its window and phase. */
function line(keys: string, sent: Sent = {}): Int16Array {
  const { toneMs = 50, pauseMs = 50, rateHz = 8000, lowDb = -16, highDb = -16, noiseDb, off = 0 } = sent;
  const random = noise();
  const tone = (toneMs * rateHz) / 1000;
  const total = ((toneMs + pauseMs) * rateHz) / 1000;
  const samples: number[] = [];
  const noisePeak = noiseDb === undefined ? 0 : Math.hypot(amplitude(lowDb), amplitude(highDb)) * 10 ** (-noiseDb / 20);
  const rms = Math.sqrt(3 / 2);
  for (const [index, key] of [...keys].entries()) {
    const row = KEYS.findIndex((each) => each.includes(key));
    const lowHz = (LOW_HZ[row] ?? 0) * (1 + off);
    const highHz = (HIGH_HZ[KEYS[row]?.indexOf(key) ?? 0] ?? 0) * (1 + off);
    for (let n = 0; n < total + index * 7; n++) {
      const at = (2 * Math.PI * n) / rateHz;
      const both =
        amplitude(lowDb) * Math.sin(at * lowHz + index) + amplitude(highDb) * Math.sin(at * highHz + 2 * index);
      samples.push((n < tone ? both : 0) + noisePeak * rms * random());
    }
  }
  const pcm = Int16Array.from(samples, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample))));
  return rateHz === 8000 ? decodeG711(encodeG711(pcm, MULAW_8K), MULAW_8K) : pcm;
}

/** What is found, in packets of 20 ms. */
function heard(samples: Int16Array, rateHz = 8000): string {
  const detector = new DtmfDetector(rateHz);
  const found: string[] = [];
  const packet = rateHz / 50;
  for (let from = 0; from < samples.length; from += packet)
    found.push(...detector.push(samples.subarray(from, from + packet)));
  return found.join('');
}

describe('keys in sound', () => {
  it.each<[string, Sent]>([
    ['of 40 ms with pauses of 40 ms', { toneMs: 40, pauseMs: 40 }],
    ['of 100 ms', { toneMs: 100, pauseMs: 100 }],
    ['that are held for a second', { toneMs: 1000 }],
    ['1.5 % too high', { off: 0.015 }],
    ['1.5 % too low', { off: -0.015 }],
    ['whose high tones are 8 dB weaker', { lowDb: -12, highDb: -20 }],
    ['whose low tones are 4 dB weaker', { lowDb: -19.9, highDb: -16 }],
    ['that are loud', { lowDb: -7, highDb: -7 }],
    ['that are quiet', { lowDb: -35, highDb: -35 }],
    ['in noise of 15 dB below', { noiseDb: 15 }],
    ['at 16 kHz', { rateHz: 16_000 }],
  ])('%s are all found, once each', (_what, sent) => {
    expect(heard(line(ALL + ALL, sent), sent.rateHz)).toBe(ALL + ALL);
  });

  it('pressed twice are two', () => {
    expect(heard(line('1122', { toneMs: 45, pauseMs: 45 }))).toBe('1122');
  });

  it('as we send them ourselves are found', () => {
    const samples = [...'4711#'].flatMap((digit) => [...digitTone(digit, 8000)]);
    expect(heard(Int16Array.from(samples))).toBe('4711#');
  });

  it('interrupted for 10 ms are one', () => {
    const sound = line('5', { toneMs: 120, pauseMs: 60 });
    sound.fill(0, 400, 480);
    expect(heard(sound)).toBe('5');
  });
});

describe('no keys', () => {
  it.each<[string, Sent]>([
    ['tones of 20 ms', { toneMs: 20 }],
    ['tones 3.5 % off', { off: 0.035 }],
    ['tones of which one is 12 dB stronger', { lowDb: -10, highDb: -22 }],
    ['tones below the level of the line', { lowDb: -50, highDb: -50 }],
  ])('are %s', (_what, sent) => {
    expect(heard(line(ALL, sent))).toBe('');
  });

  it('are voices: a pitch with strong harmonics that passes all frequencies', () => {
    const samples = new Int16Array(8000 * 20);
    let phase = 0;
    for (let n = 0; n < samples.length; n++) {
      phase += (2 * Math.PI * (90 + 160 * Math.abs(Math.sin(n / 9000)))) / 8000;
      let sample = 0;
      for (let harmonic = 1; harmonic <= 15; harmonic++) sample += Math.sin(phase * harmonic) / harmonic;
      samples[n] = Math.round(6000 * sample * Math.abs(Math.sin(n / 2500)));
    }
    expect(heard(samples)).toBe('');
  });

  it('are noise, dial tone and ringback', () => {
    const random = noise();
    const hiss = Int16Array.from({ length: 80_000 }, () => Math.round(8000 * random()));
    const tone = Int16Array.from({ length: 80_000 }, (_, n) =>
      Math.round(6000 * (Math.sin((2 * Math.PI * 440 * n) / 8000) + Math.sin((2 * Math.PI * 480 * n) / 8000))),
    );
    expect([heard(hiss), heard(tone)]).toEqual(['', '']);
  });
});

it('whether a key is down is known as long as it is, and a moment longer', () => {
  const detector = new DtmfDetector(8000);
  const states: boolean[] = [];
  const sound = line('7', { toneMs: 100, pauseMs: 100 });
  for (let from = 0; from < sound.length; from += 160) {
    detector.push(sound.subarray(from, from + 160));
    states.push(detector.isDown);
  }
  expect(states).toEqual([false, true, true, true, true, true, false, false, false, false]);
});
