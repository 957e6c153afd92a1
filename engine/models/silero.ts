/**
 * Silero VAD v6 at 16 kHz, as published in `@ricky0123/vad-web`. The input is the last 64 samples of the window before
 * and the window: without that context the model finds no speech at all. v5 costs the same and has the same signature.
 */
import { type DetectTrack, ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../contract.ts';
import { floatsOf, openSession } from '../onnx.ts';
import { type InferenceSession, Tensor } from '../onnxruntime.ts';
import type { Steps } from '../scheduler.ts';
import type { DetectedTrack, Vad } from './model.ts';
import { pathOf, SILERO_FILE } from './package-files.ts';
import { writeFloats } from './pcm.ts';

const CONTEXT_SAMPLES = 64;
const INPUT_SAMPLES = CONTEXT_SAMPLES + VAD_WINDOW_SAMPLES;
/** The recurrent state of one track is [2, 128]; a batch of B tracks is [2, B, 128]. */
const LAYERS = 2;
const LAYER_SIZE = 128;
const RECURRENT_SIZE = LAYERS * LAYER_SIZE;

/**
 * Windows in one step of the scheduler, unless there are more tracks than that: about a millisecond, which is less than
 * any run of the recogniser. One run a step would cost 12 % more where many windows of a track are waiting, as in
 * recordings.
 */
const WINDOWS_PER_STEP = 8;

/**
 * Opens the model, always on the CPU: a window is finished before a GPU would have started.
 * @param threads intra-op threads of one run.
 * @throws Refusal when the file is missing.
 */
export async function loadSilero(options: { threads: number }): Promise<Vad> {
  return new Silero(await openSession(pathOf(SILERO_FILE), { ...options, device: { provider: 'cpu' } }));
}

/** A track while its windows are examined. `state` holds the recurrent state and, behind it, the context samples. */
interface TrackInWork {
  readonly samples: Int16Array;
  readonly probabilities: Float32Array;
  readonly state: Float32Array;
}

class Silero implements Vad {
  readonly name = 'silero-v6';
  readonly stateLength = RECURRENT_SIZE + CONTEXT_SAMPLES;
  readonly #session: InferenceSession;
  readonly #rate = new Tensor('int64', BigInt64Array.of(BigInt(ENGINE_RATE_HZ)), []);

  constructor(session: InferenceSession) {
    this.#session = session;
  }

  async *detect(tracks: readonly DetectTrack[]): Steps<DetectedTrack[]> {
    const all = tracks.map(({ samples, state }) => ({
      samples,
      probabilities: new Float32Array(samples.length / VAD_WINDOW_SAMPLES),
      state: state === null ? new Float32Array(this.stateLength) : state.slice(),
    }));
    let batch: TrackInWork[] = withWindow(all, 0);
    for (let index = 0, windows = 0; batch.length > 0; ) {
      await this.#runWindow(batch, index);
      windows += batch.length;
      batch = withWindow(batch, ++index);
      if (batch.length === 0 || windows < WINDOWS_PER_STEP) continue;
      windows = 0;
      yield;
    }
    return all.map(({ probabilities, state }) => ({ probabilities, state }));
  }

  /** One model run: window `index` of every track in the batch. */
  async #runWindow(batch: readonly TrackInWork[], index: number): Promise<void> {
    const { input, state } = gather(batch, index);
    const outputs = await this.#session.run({
      input: new Tensor('float32', input, [batch.length, INPUT_SAMPLES]),
      state: new Tensor('float32', state, [LAYERS, batch.length, LAYER_SIZE]),
      sr: this.#rate,
    });
    const probabilities = floatsOf(outputs, 'output');
    const nextState = floatsOf(outputs, 'stateN');
    for (const [row, track] of batch.entries()) {
      track.probabilities[index] = probabilities[row] ?? 0;
      for (let layer = 0; layer < LAYERS; layer++) {
        const from = (layer * batch.length + row) * LAYER_SIZE;
        track.state.set(nextState.subarray(from, from + LAYER_SIZE), layer * LAYER_SIZE);
      }
      track.state.set(
        input.subarray((row + 1) * INPUT_SAMPLES - CONTEXT_SAMPLES, (row + 1) * INPUT_SAMPLES),
        RECURRENT_SIZE,
      );
    }
  }
}

function withWindow(tracks: readonly TrackInWork[], index: number): TrackInWork[] {
  return tracks.filter((track) => index < track.probabilities.length);
}

/**
 * The model's inputs for one window of each track: context and window in a row, and the states interleaved by layer.
 */
function gather(batch: readonly TrackInWork[], index: number): { input: Float32Array; state: Float32Array } {
  const input = new Float32Array(batch.length * INPUT_SAMPLES);
  const state = new Float32Array(batch.length * RECURRENT_SIZE);
  for (const [row, track] of batch.entries()) {
    const window = track.samples.subarray(index * VAD_WINDOW_SAMPLES, (index + 1) * VAD_WINDOW_SAMPLES);
    input.set(track.state.subarray(RECURRENT_SIZE), row * INPUT_SAMPLES);
    writeFloats(window, input, row * INPUT_SAMPLES + CONTEXT_SAMPLES);
    for (let layer = 0; layer < LAYERS; layer++) {
      state.set(
        track.state.subarray(layer * LAYER_SIZE, (layer + 1) * LAYER_SIZE),
        (layer * batch.length + row) * LAYER_SIZE,
      );
    }
  }
  return { input, state };
}
