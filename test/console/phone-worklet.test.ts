/**
 * The phone's audio processor, on an audio thread of ours: blocks go in and out, and messages are read as they come.
 */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { decodeG711, encodeG711 } from '../../src/audio/g711.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { FRAME_MS, MULAW_8K, msToBytes } from '../../src/foundation/units.ts';

const CARD_HZ = 44_100;
const BLOCK_SAMPLES = 128;
const BLOCKS_PER_SECOND = Math.ceil(CARD_HZ / BLOCK_SAMPLES);
const HALF_A_SECOND = Math.ceil(BLOCKS_PER_SECOND / 2);

interface Told {
  readonly frame?: Uint8Array;
  readonly level?: number;
  readonly mark?: string;
  readonly playing?: boolean;
  readonly overflow?: true;
}

interface Processor {
  readonly port: { onmessage(message: { data: unknown }): void };
  process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean;
}

const told: Told[] = [];
let Phone: new () => Processor;

beforeEach(async () => {
  told.length = 0;
  vi.resetModules();
  vi.stubGlobal('sampleRate', CARD_HZ);
  vi.stubGlobal(
    'AudioWorkletProcessor',
    class {
      readonly port = { postMessage: (message: Told) => void told.push(message) };
    },
  );
  vi.stubGlobal('registerProcessor', (_name: string, processor: new () => Processor) => {
    Phone = processor;
  });
  await import(packagePath('src', 'console', 'page', 'phone-worklet.js'));
  vi.unstubAllGlobals();
});

function tone(samples: number, rateHz: number, amplitude = 0.5): Float32Array {
  return Float32Array.from(
    { length: samples },
    (_unused, at) => amplitude * Math.sin((2 * Math.PI * 440 * at) / rateHz),
  );
}

/** `count` blocks with `sound` (silence from its end on) at the microphone; what the loudspeaker gets. */
function run(phone: Processor, count: number, sound: Float32Array | null = null): Float32Array {
  const heard = new Float32Array(count * BLOCK_SAMPLES);
  for (let block = 0; block < count; block++) {
    const microphone = new Float32Array(BLOCK_SAMPLES);
    microphone.set(sound?.subarray(block * BLOCK_SAMPLES, (block + 1) * BLOCK_SAMPLES) ?? []);
    const speaker = new Float32Array(BLOCK_SAMPLES);
    phone.process([sound === null ? [] : [microphone]], [[speaker]]);
    heard.set(speaker, block * BLOCK_SAMPLES);
  }
  return heard;
}

const frames = () => told.flatMap(({ frame }) => frame ?? []);
const loudest = (samples: Float32Array) => samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);

describe('the microphone', () => {
  it('becomes 50 frames of 20 ms a second, with its level', () => {
    run(new Phone(), BLOCKS_PER_SECOND, tone(CARD_HZ, CARD_HZ));
    expect(frames().length).toBe(50);
    expect(new Set(frames().map(({ length }) => length))).toEqual(new Set([msToBytes(FRAME_MS, MULAW_8K)]));
    const [, , settled] = told;
    expect(settled?.level).toBeCloseTo(0.5 / Math.SQRT2, 2);
    const samples = frames()
      .slice(2, 40)
      .flatMap((frame) => [...decodeG711(frame, MULAW_8K)]);
    expect(Math.max(...samples)).toBeGreaterThan(0.48 * 32_768);
  });

  it('is silence at the same pace while there is none', () => {
    run(new Phone(), BLOCKS_PER_SECOND);
    expect(frames().length).toBe(50);
    expect(new Set(frames().flatMap((frame) => [...frame]))).toEqual(new Set([0xff]));
  });
});

describe('the loudspeaker', () => {
  const oneSecond = () =>
    encodeG711(
      Int16Array.from(tone(MULAW_8K.rateHz, MULAW_8K.rateHz), (sample) => sample * 32_767),
      MULAW_8K,
    );

  it('plays what the bridge sends, says when it begins and ends, and returns the mark behind it', () => {
    const phone = new Phone();
    phone.port.onmessage({ data: { media: oneSecond() } });
    phone.port.onmessage({ data: { mark: 'said' } });
    expect(told).toEqual([]);
    const heard = run(phone, BLOCKS_PER_SECOND * 2);
    expect(loudest(heard)).toBeCloseTo(0.5, 1);
    expect(loudest(heard.subarray(CARD_HZ * 1.1))).toBeLessThan(0.001);
    expect(told.filter(({ frame }) => frame === undefined)).toEqual([
      { playing: true },
      { mark: 'said' },
      { playing: false },
    ]);
  });

  it('falls silent on a clear', () => {
    const phone = new Phone();
    phone.port.onmessage({ data: { media: oneSecond() } });
    run(phone, HALF_A_SECOND);
    phone.port.onmessage({ data: { clear: true } });
    expect(loudest(run(phone, HALF_A_SECOND).subarray(CARD_HZ * 0.02))).toBeLessThan(0.001);
  });

  it('says so when more comes than it keeps', () => {
    const phone = new Phone();
    phone.port.onmessage({ data: { media: new Uint8Array(msToBytes(61_000, MULAW_8K)) } });
    expect(told).toEqual([{ overflow: true }]);
  });

  it('stops when the call ends', () => {
    const phone = new Phone();
    expect(phone.process([], [[new Float32Array(BLOCK_SAMPLES)]])).toBe(true);
    phone.port.onmessage({ data: { end: true } });
    expect(phone.process([], [[new Float32Array(BLOCK_SAMPLES)]])).toBe(false);
  });
});
