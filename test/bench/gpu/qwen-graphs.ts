/** The two graphs of a Qwen3-ASR folder, on a device, with made-up input: how they are run, and nothing of the text. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { padFrames } from '../../../engine/models/buckets.ts';
import { creationOf, type Device, tensorOf } from '../../../engine/onnx.ts';
import { InferenceSession, Tensor } from '../../../engine/onnxruntime.ts';

/** What is needed of the folder's `config.json`. */
interface Shape {
  readonly dtype: string;
  readonly vocabularySize: number;
  readonly layers: number;
  readonly keyValueHeads: number;
  readonly headSize: number;
  readonly melBins: number;
  readonly chunkFrames: number;
  readonly chunkTokens: number;
  readonly windowTokens: number;
  readonly audioPadToken: number;
}

/** Which graphs are profiled, and to files with which beginning. */
export interface Profiling {
  readonly encoder: string;
  readonly decoder: string;
}

/** What the decoder said of each row. */
export interface Said {
  readonly tokens: readonly (readonly number[])[];
  readonly logprobs: Float32Array;
}

/** Text before and behind the audio: as many tokens as the real prompt has, about. */
const TEXT_BEFORE = 9;
const TEXT_BEHIND = 8;
/** No token: a run goes on until it has as many as it was asked for. */
const NO_TOKEN = -1n;

/** Whether there are the files of one in `folder`. */
export function isQwenFolder(folder: string): boolean {
  return ['config.json', 'encoder.onnx', 'decoder_loop.onnx'].every((name) => existsSync(join(folder, name)));
}

/** The graphs, open. */
export class QwenGraphs {
  readonly shape: Shape;
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;

  private constructor(shape: Shape, encoder: InferenceSession, decoder: InferenceSession) {
    this.shape = shape;
    this.#encoder = encoder;
    this.#decoder = decoder;
  }

  /** @throws whatever onnxruntime throws for graphs that it cannot run */
  static async open(folder: string, device: Device, profiling: Profiling | null = null): Promise<QwenGraphs> {
    const shape = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as Shape;
    const open = (name: string, prefix: string | undefined) => {
      const profile = prefix === undefined ? {} : { enableProfiling: true, profileFilePrefix: prefix };
      return InferenceSession.create(join(folder, name), { ...creationOf({ device, threads: 1 }), ...profile });
    };
    const encoder = await open('encoder.onnx', profiling?.encoder);
    return new QwenGraphs(shape, encoder, await open('decoder_loop.onnx', profiling?.decoder));
  }

  /** Writes the profiles. */
  async close(): Promise<void> {
    this.#encoder.endProfiling();
    this.#decoder.endProfiling();
    await this.#encoder.release();
    await this.#decoder.release();
  }

  /**
   * `audio_features` of clips of so many chunks, in one run.
   * @param paddedChunks chunks of the run; those behind the clips' are zeros
   * @param seed other numbers give other sound
   */
  async encode(clips: readonly number[], paddedChunks: number, seed = 0): Promise<Tensor> {
    const { melBins, chunkFrames, chunkTokens, windowTokens } = this.shape;
    const chunks = sum(clips);
    const mel = padFrames(makeMel(melBins, chunks * chunkFrames, seed), melBins, paddedChunks * chunkFrames);
    const windows: bigint[] = [];
    for (const clip of clips) {
      const first = (windows.at(-1) ?? -1n) + 1n;
      for (let token = 0; token < clip * chunkTokens; token++)
        windows.push(first + BigInt(Math.floor(token / windowTokens)));
    }
    const outputs = await this.#encoder.run({
      mel: new Tensor('float32', mel, [melBins, paddedChunks * chunkFrames]),
      tokens: int64(Array.from(windows, (_, index) => index)),
      windows: new Tensor('int64', BigInt64Array.from(windows), [windows.length]),
    });
    return tensorOf(outputs, 'audio_features');
  }

  /** So many tokens for each clip, whose `features` these are, in one run that fetches no cache. */
  async decode(features: Tensor, clips: readonly number[], newTokens: number): Promise<Said> {
    const rows = clips.length;
    const prompts = clips.map((clip) => this.#prompt(clip));
    const length = Math.max(...prompts.map((prompt) => prompt.length));
    const padded = prompts.flatMap((prompt) => [...new Array(length - prompt.length).fill(0), ...prompt]);
    const pads = prompts.map((prompt) => length - prompt.length);
    const feeds = {
      prompt_ids: int64(padded, [rows, length]),
      pads: int64(pads),
      draft_ids: int64([], [rows, 0]),
      draft_lengths: int64(new Array(rows).fill(0)),
      audio_features: features,
      past_keys: this.#noPast(features, rows),
      past_values: this.#noPast(features, rows),
      max_new_tokens: int64([newTokens], []),
      eos_ids: new Tensor('int64', BigInt64Array.of(NO_TOKEN), [1]),
    };
    const outputs = await this.#decoder.run(feeds, ['tokens', 'logprobs']);
    const said = Array.from(tensorOf(outputs, 'tokens').data as BigInt64Array, Number);
    const width = said.length / rows;
    const tokens = clips.map((_, row) => said.slice(row * width, (row + 1) * width));
    return { tokens, logprobs: tensorOf(outputs, 'logprobs').data as Float32Array };
  }

  #prompt(chunks: number): number[] {
    const { audioPadToken, chunkTokens } = this.shape;
    const text = (count: number, from: number) => Array.from({ length: count }, (_, index) => from + 7 * index);
    return [...text(TEXT_BEFORE, 11), ...new Array(chunks * chunkTokens).fill(audioPadToken), ...text(TEXT_BEHIND, 23)];
  }

  #noPast({ type }: Tensor, rows: number): Tensor {
    const { layers, keyValueHeads, headSize } = this.shape;
    const dims = [layers, rows, keyValueHeads, 0, headSize];
    return type === 'float16'
      ? new Tensor('float16', new Uint16Array(0), dims)
      : new Tensor('float32', new Float32Array(0), dims);
  }
}

/** Log-mel frames as speech has them: from -1 to 1.5, and no two clips alike. */
function makeMel(bands: number, frames: number, seed: number): Float32Array {
  const mel = new Float32Array(bands * frames);
  let random = (seed + 1) * 2_654_435_761;
  for (let at = 0; at < mel.length; at++) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    const frame = at % frames;
    const wave = Math.sin((frame * (3 + (seed % 11))) / 40 + at / frames / 9);
    mel[at] = 0.25 + 0.75 * wave + 0.5 * (random / 2 ** 32 - 0.5);
  }
  return mel;
}

function int64(values: readonly number[], dims: readonly number[] = [values.length]): Tensor {
  return new Tensor('int64', BigInt64Array.from(values, BigInt), dims);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
