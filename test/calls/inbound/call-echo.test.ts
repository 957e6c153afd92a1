/** Whole calls on lines that send our voice back, by a given clock: what passes, and what becomes of the caller. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { toSample } from '../../../src/audio/pcm.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { ALAW_8K, MULAW_8K } from '../../../src/foundation/units.ts';
import type { EchoingLine } from '../../helpers/echoing-telephone.ts';
import { LINE_RATE_HZ } from '../../helpers/signals.ts';
import { levelDb, type SimulatedCall, simulateEcho } from '../../helpers/simulated-echo.ts';

const FRAME = 160;
/** Louder than the lines' noise of -70 dB, softer than any speech. */
const SOUND_DB = -57;

let voice: Int16Array;
let caller: Int16Array;

beforeAll(() => {
  voice = atLevel('demo-agent', -20).subarray(0, 6 * LINE_RATE_HZ);
  const spoken = atLevel('demo-caller', -22);
  caller = spoken.subarray(spoken.findIndex((sample) => Math.abs(sample) > 1000)).subarray(0, 3 * LINE_RATE_HZ);
});

function callOn(line: Partial<EchoingLine>, over: Partial<SimulatedCall> = {}): SimulatedCall {
  return {
    line: { path: 'handset', levelDb: -20, delayMs: 150, slipMs: 0, clipAt: 1, noise: 3, seed: 3, ...line },
    codec: MULAW_8K,
    isBuffered: true,
    networkMs: 10,
    jitterMs: 20,
    loss: 0,
    holdMs: 40,
    seconds: 14,
    prompts: [voice],
    pauseMs: 1000,
    hasHoles: false,
    says: [],
    ...over,
  };
}

/** When 60 ms in a row were louder than noise, in ms of the call. */
function soundsMs(left: Int16Array): number[] {
  const sounds: number[] = [];
  let run = 0;
  for (let at = 0; at + FRAME <= left.length; at += FRAME) {
    run = levelDb(left.subarray(at, at + FRAME)) > SOUND_DB ? run + 1 : 0;
    if (run === 3) sounds.push((1000 * at) / LINE_RATE_HZ);
  }
  return sounds;
}

describe('a call on a line that sends our voice back', () => {
  it.each<[string, SimulatedCall]>([
    ['of -15 dB by an electric hybrid', callOn({ path: 'hybrid', levelDb: -15, delayMs: 20 })],
    ['of -35 dB by a speakerphone', callOn({ path: 'speakerphone', levelDb: -35 }, { codec: ALAW_8K })],
    ['of -50 dB after half a second', callOn({ path: 'car', levelDb: -50, delayMs: 450 })],
    ['of -25 dB by a telephone whose buffer slips', callOn({ levelDb: -25, slipMs: 20 }, { isBuffered: false })],
    ['of -20 dB by a loudspeaker that clips', callOn({ clipAt: 0.15 })],
    ['of -20 dB where our voice has holes', callOn({ seed: 5 }, { hasHoles: true, isBuffered: false })],
    ['of -20 dB where frames are lost', callOn({}, { loss: 0.01 })],
  ])('hears nobody in an echo %s', (_, call) => {
    const { left, heard, pausedMs } = simulateEcho(call);
    expect(left).toHaveLength(heard.length);
    expect(soundsMs(left)).toEqual([]);
    expect(pausedMs).toEqual([]);
  });

  it('would pause for itself without the canceller', () => {
    const { pausedMs } = simulateEcho({ ...callOn({}), isCancelled: false });
    expect(pausedMs.length).toBeGreaterThan(0);
  });

  it.each([null, -45, -20])('pauses within 250 ms for a caller who cuts in beside an echo of %s dB', (echoDb) => {
    const { left, pausedMs } = simulateEcho(callOn({ levelDb: echoDb }, { says: [{ atMs: 4000, samples: caller }] }));
    expect(pausedMs[0]).toBeGreaterThan(4000);
    expect(pausedMs[0]).toBeLessThan(4250);
    expect(shareHeard(left, 4000)).toBeGreaterThan(0.95);
  });

  it('keeps nearly all sound of a caller who cuts in before the line is known, and hears him half a second later', () => {
    const { left, pausedMs } = simulateEcho(callOn({ levelDb: null }, { says: [{ atMs: 700, samples: caller }] }));
    expect(pausedMs[0]).toBeLessThan(1800);
    expect(shareHeard(left, 700)).toBeGreaterThan(0.95);
  });

  it('does not take the next prompt for the caller who spoke before it', () => {
    const { left } = simulateEcho(
      callOn({ path: 'hybrid', levelDb: -15 }, { says: [{ atMs: 4000, samples: caller }] }),
    );
    expect(soundsMs(left).filter((atMs) => atMs > 8000)).toEqual([]);
  });
});

/** The share of the caller's loud frames that are heard with half their size or more. */
function shareHeard(left: Int16Array, atMs: number): number {
  const from = (atMs * LINE_RATE_HZ) / 1000;
  let [spoken, heard] = [0, 0];
  for (let at = 0; at + FRAME <= caller.length; at += FRAME) {
    const frame = caller.subarray(at, at + FRAME);
    if (levelDb(frame) < -40) continue;
    const energy = frame.reduce((sum, sample) => sum + sample * sample, 0);
    const both = frame.reduce((sum, sample, i) => sum + sample * (left[from + at + i] ?? 0), 0);
    spoken++;
    if (both > energy / 2) heard++;
  }
  return heard / spoken;
}

function atLevel(name: string, db: number): Int16Array {
  const samples = readWav(readFileSync(`fixtures/audio/${name}.wav`)).channels[0] ?? new Int16Array(0);
  const gain = 10 ** ((db - levelDb(samples.filter((sample) => Math.abs(sample) > 300))) / 20);
  return samples.map((sample) => toSample(sample * gain));
}
