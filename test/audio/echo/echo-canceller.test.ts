import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { EchoCanceller } from '../../../src/audio/echo/echo-canceller.ts';
import { decodeG711, encodeG711 } from '../../../src/audio/g711.ts';
import { toSample } from '../../../src/audio/pcm.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { ALAW_8K, type Codec, MULAW_8K } from '../../../src/foundation/units.ts';
import { addEcho, type EchoPathKind, echoPath } from '../../helpers/echo-paths.ts';
import { gaussian, LINE_RATE_HZ } from '../../helpers/signals.ts';

const FRAME = 160;
const FRAME_MS = 20;

let voice: Int16Array;
let caller: Int16Array;

beforeAll(() => {
  voice = atLevel(samplesOf('demo-agent'), -20).subarray(0, 16 * LINE_RATE_HZ);
  const spoken = atLevel(samplesOf('demo-caller'), -22);
  caller = spoken.subarray(spoken.findIndex((sample) => Math.abs(sample) > 1000));
});

interface Line {
  readonly path?: EchoPathKind;
  readonly levelDb: number | null;
  readonly delayMs?: number;
  readonly noise?: number;
  readonly codec?: Codec;
  /** The delay grows by so much in the middle of the call. */
  readonly slipMs?: number;
  /** What the caller says from `callerAtMs` on. */
  readonly says?: Int16Array;
  readonly saysAtMs?: number;
}

/** What comes back from the caller while `voice` is sent. */
function heardOn({
  path = 'speakerphone',
  levelDb,
  delayMs = 150,
  noise = 3,
  codec = MULAW_8K,
  slipMs = 0,
  says = new Int16Array(0),
  saysAtMs = 0,
}: Line): Int16Array {
  const random = gaussian(5);
  const sum = Float64Array.from(voice, () => noise * random());
  const echo = { response: echoPath(path, LINE_RATE_HZ, 5), gain: levelDb === null ? 0 : 10 ** (levelDb / 20) };
  const middle = voice.length / 2;
  addEcho(sum, samplesIn(delayMs), voice.subarray(0, middle), echo);
  addEcho(sum, middle + samplesIn(delayMs + slipMs), voice.subarray(middle), echo);
  for (let i = 0; i < says.length; i++)
    sum[samplesIn(saysAtMs) + i] = (sum[samplesIn(saysAtMs) + i] ?? 0) + (says[i] ?? 0);
  return decodeG711(encodeG711(Int16Array.from(sum, toSample), codec), codec);
}

/** What is left of `heard` when `voice` is sent meanwhile, frame by frame. */
function cancel(heard: Int16Array): { readonly left: Int16Array; readonly canceller: EchoCanceller } {
  const canceller = new EchoCanceller(LINE_RATE_HZ);
  const parts: Int16Array[] = [];
  for (let at = 0; at + FRAME <= heard.length; at += FRAME) {
    canceller.send(voice.subarray(at, at + FRAME), at === 0 ? 0 : null);
    parts.push(canceller.cancel(heard.subarray(at, at + FRAME), (at / FRAME) * FRAME_MS));
  }
  parts.push(canceller.flush());
  return { left: Int16Array.from(parts.flatMap((part) => [...part])), canceller };
}

describe('the echo canceller', () => {
  it('returns the very samples that came while nothing was sent', () => {
    const canceller = new EchoCanceller(LINE_RATE_HZ);
    const samples = caller.subarray(0, FRAME);
    expect(canceller.cancel(samples, 0)).toBe(samples);
    expect(canceller.flush()).toHaveLength(0);
  });

  it.each<{ readonly path: EchoPathKind; readonly levelDb: number; readonly delayMs: number; readonly codec: Codec }>([
    { path: 'hybrid', levelDb: -15, delayMs: 20, codec: MULAW_8K },
    { path: 'handset', levelDb: -20, delayMs: 60, codec: ALAW_8K },
    { path: 'speakerphone', levelDb: -25, delayMs: 300, codec: MULAW_8K },
    { path: 'car', levelDb: -35, delayMs: 500, codec: MULAW_8K },
    { path: 'handset', levelDb: -50, delayMs: 150, codec: ALAW_8K },
  ])('hides an echo of $levelDb dB by a $path after $delayMs ms in the noise of the line', (line) => {
    const heard = heardOn(line);
    const { left } = cancel(heard);
    expect(left).toHaveLength(heard.length);
    // A few frames of 800 may be louder than the line's noise of -81 dB, as clicks are.
    expect(loudFrames(left, -58)).toBeLessThanOrEqual(4);
  });

  it('finds the delay, and says none where nothing comes back', () => {
    expect(cancel(heardOn({ path: 'hybrid', levelDb: -20, delayMs: 240 })).canceller.delayMs).toBeCloseTo(240, -1);
    expect(cancel(heardOn({ levelDb: null })).canceller.delayMs).toBeNull();
  });

  it('follows a delay that grows by 40 ms', () => {
    const { left, canceller } = cancel(heardOn({ path: 'handset', levelDb: -20, slipMs: 40 }));
    expect(canceller.delayMs).toBeCloseTo(190, -1);
    expect(loudFrames(left.subarray(12 * LINE_RATE_HZ), -58)).toBe(0);
  });

  it.each([null, -45, -20, -15])(
    'lets the caller through who speaks while we do, beside an echo of %s dB',
    (levelDb) => {
      const says = caller.subarray(0, 2 * LINE_RATE_HZ);
      const heard = heardOn({ levelDb, says, saysAtMs: 8000 });
      const { left } = cancel(heard);
      const during = left.subarray(samplesIn(8000), samplesIn(10_000));
      // How much of what is left is the caller: the correlation of both.
      expect(likeness(says, during)).toBeGreaterThan(0.9);
    },
  );

  it('goes on where the time of the call jumps, and loses nothing', () => {
    const canceller = new EchoCanceller(LINE_RATE_HZ);
    canceller.send(voice.subarray(0, 4000), 0);
    const first = canceller.cancel(caller.subarray(0, 100), 0);
    const second = canceller.cancel(caller.subarray(0, 100), 5000);
    expect(first.length + second.length + canceller.flush().length).toBe(200);
  });

  it('takes sound that was taken back out of what may come back', () => {
    const canceller = new EchoCanceller(LINE_RATE_HZ);
    canceller.send(voice.subarray(0, 4000), 0);
    canceller.takeBack(500);
    const samples = caller.subarray(0, FRAME);
    expect(canceller.cancel(samples, 5000)).toBe(samples);
  });
});

function samplesOf(name: string): Int16Array {
  return readWav(readFileSync(`fixtures/audio/${name}.wav`)).channels[0] ?? new Int16Array(0);
}

function samplesIn(ms: number): number {
  return Math.round((ms * LINE_RATE_HZ) / 1000);
}

function atLevel(samples: Int16Array, db: number): Int16Array {
  const loud = samples.filter((sample) => Math.abs(sample) > 300);
  const gain = (32_768 * 10 ** (db / 20)) / rms(loud);
  return samples.map((sample) => toSample(sample * gain));
}

function rms(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(samples.length, 1));
}

function loudFrames(samples: Int16Array, db: number): number {
  let loud = 0;
  for (let at = 0; at + FRAME <= samples.length; at += FRAME)
    if (20 * Math.log10(rms(samples.subarray(at, at + FRAME)) / 32_768) > db) loud++;
  return loud;
}

function likeness(a: Int16Array, b: Int16Array): number {
  let both = 0;
  for (let i = 0; i < a.length; i++) both += (a[i] ?? 0) * (b[i] ?? 0);
  return both / (rms(a) * rms(b) * a.length);
}
