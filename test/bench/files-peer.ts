/**
 * Long audio for a recogniser that takes short audio: transformers.js in a process of its own, and two ways of cutting
 * for it.
 */
import { ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import type { DetectedTrack } from '../../engine/models/model.ts';
import { loadSilero } from '../../engine/models/silero.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { ClipCutter } from '../../src/transcription/speech-clips.ts';
import { finish } from '../engine/speech.ts';
import { transformersJsCommand } from './compare.ts';
import { installTransformersJs } from './peers/install.ts';
import { arrangeModels, type ModelFolder } from './peers/model-folder.ts';
import { Peer } from './peers/peer.ts';
import { sampleFiles } from './speech-set.ts';

/** Length of the windows that audio is cut into by the clock. */
export const WINDOW_SECONDS = 30;

/** Audio judged at once for the pieces: about a minute. */
const BLOCK_SAMPLES = VAD_WINDOW_SAMPLES * 2000;

/** A recording as text, and what that took. */
export interface PeerTiming {
  readonly text: string;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

/** transformers.js, installed. Each recording gets a process of its own. */
export class TransformersJs {
  readonly #folder: string;
  readonly #models: ModelFolder;

  private constructor(folder: string, models: ModelFolder) {
    this.#folder = folder;
    this.#models = models;
  }

  /** @returns why it is not there where it cannot be installed */
  static async install(): Promise<TransformersJs | { readonly missing: string }> {
    const install = await installTransformersJs();
    return 'missing' in install ? install : new TransformersJs(install.folder, await arrangeModels());
  }

  /** Removes what was arranged for it; the install stays. */
  remove(): void {
    this.#models.remove();
  }

  /** 16 kHz audio in windows of equal length, without regard to words. */
  inWindows(audio: Int16Array): Promise<PeerTiming> {
    const windowSamples = WINDOW_SECONDS * ENGINE_RATE_HZ;
    const count = Math.ceil(audio.length / windowSamples);
    return this.#transcribe(
      Array.from({ length: count }, (_, index) => audio.subarray(index * windowSamples, (index + 1) * windowSamples)),
    );
  }

  /** 16 kHz audio in the pieces that a recording is cut into here; cutting them is not part of the time. */
  async inPieces(audio: Int16Array): Promise<PeerTiming> {
    return this.#transcribe(await cutPieces(audio));
  }

  /**
   * The time has in it what a program around the library would need too: handing over the samples, joining the texts.
   */
  async #transcribe(stretches: readonly Int16Array[]): Promise<PeerTiming> {
    const files = sampleFiles();
    const peer = await Peer.start(transformersJsCommand(this.#folder, this.#models));
    try {
      const paths = stretches.map((stretch) => files.write(stretch));
      // As in a gateway that is idle but has worked before.
      await peer.transcribe(files.write((stretches[0] ?? new Int16Array(0)).subarray(0, 3 * ENGINE_RATE_HZ)));
      const texts: string[] = [];
      let cpuSeconds = 0;
      const startedMs = performance.now();
      for (const path of paths) {
        const { text, cpuMs } = await peer.transcribe(path);
        texts.push(text.trim());
        cpuSeconds += cpuMs / 1000;
      }
      return {
        text: texts.join(' '),
        wallSeconds: (performance.now() - startedMs) / 1000,
        cpuSeconds,
        peakMb: peer.memory().peakMb,
      };
    } finally {
      await peer.close();
      files.remove();
    }
  }
}

async function cutPieces(audio: Int16Array): Promise<Int16Array[]> {
  const vad = await loadSilero({ threads: 1 });
  const cutter = new ClipCutter(readSettings({}));
  const pieces: Int16Array[] = [];
  let state: Float32Array | null = null;
  const whole = audio.length - (audio.length % VAD_WINDOW_SAMPLES);
  for (let at = 0; at < whole; at += BLOCK_SAMPLES) {
    const samples = audio.subarray(at, Math.min(at + BLOCK_SAMPLES, whole));
    const detected: { result: DetectedTrack[] } = await finish(vad.detect([{ samples, state }]));
    const [track] = detected.result;
    if (track === undefined) break;
    state = track.state;
    for (let from = 0; from < samples.length; from += VAD_WINDOW_SAMPLES) {
      const window = samples.subarray(from, from + VAD_WINDOW_SAMPLES);
      const index = from / VAD_WINDOW_SAMPLES;
      pieces.push(
        ...cutter.push(window, track.probabilities.subarray(index, index + 1)).map(({ spliced }) => spliced.samples),
      );
    }
  }
  return [...pieces, ...cutter.finish().map(({ spliced }) => spliced.samples)];
}
