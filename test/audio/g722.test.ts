import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { G722Decoder, G722Encoder } from '../../src/audio/g722.ts';
import { pcm16ToSamples, samplesToPcm16 } from '../../src/audio/pcm.ts';

const RATE_HZ = 16_000;
const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;

/** A tone that rises from 100 Hz to 7 kHz, then noise at full scale. */
function sound(): Int16Array {
  const samples = new Int16Array(3 * RATE_HZ);
  let state = 7;
  for (let i = 0; i < samples.length; i++) {
    const seconds = i / RATE_HZ;
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    const phase = 2 * Math.PI * (100 * seconds + (6900 / 4) * seconds ** 2);
    samples[i] = seconds < 2 ? 12_000 * Math.sin(phase) : (state >>> 16) - 32_768;
  }
  return samples;
}

function byFfmpeg(from: readonly string[], to: readonly string[], input: Uint8Array): Uint8Array {
  return execFileSync('ffmpeg', ['-loglevel', 'error', ...from, '-i', '-', ...to, '-'], { input });
}

const LINEAR = ['-f', 's16le', '-ar', String(RATE_HZ), '-ac', '1'];
const G722 = ['-f', 'g722'];

/** Signal to noise in dB, the codec's delay of 22 samples taken out. */
function snrDb(original: Int16Array, decoded: Int16Array): number {
  let [signal, noise] = [0, 0];
  for (let i = 0; i < original.length - 22; i++) {
    const sample = original[i] as number;
    signal += sample ** 2;
    noise += (sample - (decoded[i + 22] as number)) ** 2;
  }
  return 10 * Math.log10(signal / noise);
}

describe('G.722', () => {
  it.runIf(hasFfmpeg)('encodes bit for bit as ffmpeg does', () => {
    const samples = sound();
    const theirs = byFfmpeg(LINEAR, ['-c:a', 'g722', ...G722], samplesToPcm16(samples));
    expect(Buffer.compare(new G722Encoder().encode(samples), theirs)).toBe(0);
  });

  it.runIf(hasFfmpeg)('decodes bit for bit as ffmpeg does, whatever the bytes', () => {
    const bytes = Uint8Array.from({ length: 16_000 }, (_, i) => (Math.imul(i + 1, 2_654_435_761) >>> 13) & 0xff);
    const theirs = pcm16ToSamples(byFfmpeg(G722, ['-f', 's16le'], bytes));
    expect(new G722Decoder().decode(bytes)).toEqual(theirs);
  });

  it('carries a tone of 5 kHz, which no telephone of 8 kHz has', () => {
    const tone = Int16Array.from({ length: RATE_HZ }, (_, i) => 8000 * Math.sin((2 * Math.PI * 5000 * i) / RATE_HZ));
    expect(snrDb(tone, new G722Decoder().decode(new G722Encoder().encode(tone)))).toBeGreaterThan(15);
  });

  it('gives the same whether a stream comes in one piece or in packets', () => {
    const samples = sound();
    const whole = new G722Encoder().encode(samples);
    const encoder = new G722Encoder();
    const decoder = new G722Decoder();
    const parts: Uint8Array[] = [];
    const decoded: number[] = [];
    for (let at = 0; at < samples.length; at += 320) {
      const payload = encoder.encode(samples.subarray(at, at + 320));
      expect(payload).toHaveLength(160);
      parts.push(payload);
      decoded.push(...decoder.decode(payload));
    }
    expect(Buffer.compare(Buffer.concat(parts), whole)).toBe(0);
    expect(Int16Array.from(decoded)).toEqual(new G722Decoder().decode(whole));
  });
});
