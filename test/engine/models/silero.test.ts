import { beforeAll, describe, expect, it } from 'vitest';
import { type DetectTrack, VAD_WINDOW_SAMPLES } from '../../../engine/contract.ts';
import type { Vad } from '../../../engine/models/model.ts';
import { loadSilero } from '../../../engine/models/silero.ts';
import { floatsOf, openSession, tensorOf } from '../../../engine/onnx.ts';
import { Tensor } from '../../../engine/onnxruntime.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { finish, speech, tone } from '../speech.ts';

const CONTEXT_SAMPLES = 64;
const windows = (samples: Int16Array, count: number) => samples.subarray(0, count * VAD_WINDOW_SAMPLES);

let vad: Vad;
let spoken: Int16Array;

beforeAll(async () => {
  vad = await loadSilero({ threads: 1 });
  spoken = speech('short');
});

const detect = async (tracks: readonly DetectTrack[]) => (await finish(vad.detect(tracks))).result;

/** Examines `count` windows one job at a time; `change` may spoil the state in between. */
async function oneByOne(
  samples: Int16Array,
  count: number,
  change = (state: Float32Array) => state,
): Promise<number[]> {
  const probabilities: number[] = [];
  let state: Float32Array | null = null;
  for (let index = 0; index < count; index++) {
    const window = samples.subarray(index * VAD_WINDOW_SAMPLES, (index + 1) * VAD_WINDOW_SAMPLES);
    const [track] = await detect([{ samples: window, state }]);
    probabilities.push(track?.probabilities[0] ?? -1);
    state = change(track?.state ?? new Float32Array(0));
  }
  return probabilities;
}

const speechShare = (probabilities: Iterable<number>) => {
  const all = [...probabilities];
  return all.filter((probability) => probability >= 0.5).length / all.length;
};

describe('Silero', () => {
  it('hears the speech in speech and none in silence', async () => {
    const [voice, silence] = await detect([
      { samples: windows(spoken, 60), state: null },
      { samples: tone(0, 1600), state: null },
    ]);
    expect(speechShare(voice?.probabilities ?? [])).toBeGreaterThan(0.6);
    expect(speechShare(silence?.probabilities ?? [])).toBe(0);
  });

  it('examines a window together with the last samples of the one before', async () => {
    const withoutContext = (state: Float32Array) => state.fill(0, state.length - CONTEXT_SAMPLES);
    const [kept, lost] = [await oneByOne(spoken, 60), await oneByOne(spoken, 60, withoutContext)];
    expect(Math.max(...kept.map((probability, index) => Math.abs(probability - (lost[index] ?? 0))))).toBeGreaterThan(
      0.01,
    );
  });

  it('would find no speech at all in windows without the context before them', async () => {
    const session = await openSession(
      packagePath('node_modules', '@ricky0123', 'vad-web', 'dist', 'silero_vad_v6.onnx'),
      {
        device: { provider: 'cpu' },
        threads: 1,
      },
    );
    let state: Tensor = new Tensor('float32', new Float32Array(256), [2, 1, 128]);
    for (let index = 0; index < 60; index++) {
      const window = spoken.subarray(index * VAD_WINDOW_SAMPLES, (index + 1) * VAD_WINDOW_SAMPLES);
      const input = new Tensor(
        'float32',
        Float32Array.from(window, (sample) => sample / 32_768),
        [1, VAD_WINDOW_SAMPLES],
      );
      const outputs = await session.run({ input, state, sr: new Tensor('int64', [16_000n], []) });
      expect(floatsOf(outputs, 'output')[0]).toBeLessThan(0.5);
      state = tensorOf(outputs, 'stateN');
    }
  });

  it('gives the same for windows examined in one job or one by one with the state carried along', async () => {
    const [together] = await detect([{ samples: windows(spoken, 20), state: null }]);
    expect(await oneByOne(spoken, 20)).toEqual([...(together?.probabilities ?? [])]);
  });

  it('says the same of a track alone and in a batch with tracks of other lengths', async () => {
    const lengths = [12, 0, 30, 5];
    const tracks = lengths.map((count, index) => ({
      samples: windows(spoken.subarray(index * 3000), count),
      state: null,
    }));
    const together = await detect(tracks);
    for (const [index, track] of tracks.entries()) {
      const [alone] = await detect([track]);
      expect(together[index]?.probabilities).toHaveLength(lengths[index] ?? -1);
      for (const [n, probability] of (alone?.probabilities ?? []).entries()) {
        expect(together[index]?.probabilities[n]).toBeCloseTo(probability, 4);
      }
      for (const [n, value] of (alone?.state ?? []).entries()) expect(together[index]?.state[n]).toBeCloseTo(value, 3);
    }
  });

  it('lets others in after eight windows at the latest, or after one of each track', async () => {
    const runs = async (counts: number[]) => {
      const tracks = counts.map((count) => ({ samples: windows(spoken, count), state: null }));
      return (await finish(vad.detect(tracks))).runs;
    };
    expect(await runs([8])).toBe(1);
    expect(await runs([9])).toBe(2);
    expect(await runs([3, 7, 7])).toBe(2);
    expect(await runs(Array.from({ length: 9 }, () => 3))).toBe(3);
  });

  it('leaves the state that it was given as it was', async () => {
    const state = new Float32Array(vad.stateLength);
    await detect([{ samples: windows(spoken, 5), state }]);
    expect(state.every((value) => value === 0)).toBe(true);
  });

  it('answers no tracks with no tracks', async () => {
    expect(await detect([])).toEqual([]);
  });
});
