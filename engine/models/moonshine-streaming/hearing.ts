/**
 * From samples to the keys and values that the decoder looks for words in. Sound is taken in blocks that begin at
 * multiples of their length, whatever came before: so it makes no difference, not in the last bit, whether the blocks
 * before were computed for this job or kept from an earlier one.
 */
import { tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import type { Steps } from '../../scheduler.ts';
import { writeFloats } from '../pcm.ts';
import type { EncoderState, StreamingEncoder } from './encoder.ts';
import { FEATURE_SAMPLES, FRAME_SAMPLES, type Frontend, type FrontendState } from './frontend.ts';
import { HearingMemory } from './hearing-memory.ts';

/** Keys and values [layers, 1, heads, frames, head size] of some frames in a row. */
export interface CrossKv {
  readonly keys: Tensor;
  readonly values: Tensor;
}

/** What was heard of the beginning of an utterance. Never changed once it is made. */
export interface Heard {
  /** A whole number of blocks. */
  readonly samples: number;
  readonly frontend: FrontendState;
  readonly encoder: EncoderState;
  /** Frames so far, and what they give the decoder. */
  readonly frames: number;
  readonly speech: readonly CrossKv[];
  readonly bytes: number;
}

/** What hearing needs: the front end, the encoder, and the open graphs `adapter` and `cross_kv`. */
export interface HearingParts {
  readonly frontend: Frontend;
  readonly encoder: StreamingEncoder;
  readonly adapter: InferenceSession;
  readonly crossKv: InferenceSession;
}

/** The graphs before the decoder. */
export class Hearing {
  readonly #frontend: Frontend;
  readonly #encoder: StreamingEncoder;
  readonly #adapter: InferenceSession;
  readonly #crossKv: InferenceSession;
  readonly #memory = new HearingMemory<Heard>();
  readonly #start: Heard;

  constructor({ frontend, encoder, adapter, crossKv }: HearingParts) {
    this.#frontend = frontend;
    this.#encoder = encoder;
    this.#adapter = adapter;
    this.#crossKv = crossKv;
    const [first, second] = [frontend.start, encoder.start];
    this.#start = { samples: 0, frontend: first, encoder: second, frames: 0, speech: [], bytes: 0 };
  }

  /**
   * Some steps for each block that is not known yet: what the decoder needs of all samples; null with too few of them
   * for a frame.
   * @param stream the same number with samples that begin alike; undefined = nobody will ask for more of them
   */
  async *hear(samples: Int16Array, stream: number | undefined): Steps<CrossKv | null> {
    let heard = (stream === undefined ? null : this.#memory.find(stream, samples)) ?? this.#start;
    const whole = samples.length - (samples.length % FRAME_SAMPLES);
    if (whole === 0) return null;
    const features = stream === undefined ? this.#encoder.wholeBlockFeatures : this.#encoder.blockFeatures;
    const blockSamples = features * FEATURE_SAMPLES;
    // The last block is never a known one: something must be left to end with.
    for (; heard.samples + blockSamples < whole; yield) {
      heard = yield* this.#hearMore(samples.subarray(0, heard.samples + blockSamples), heard, false);
      if (stream !== undefined) this.#memory.keep(stream, samples, heard);
    }
    const { speech } = yield* this.#hearMore(samples.subarray(0, whole), heard, true);
    return joined(speech);
  }

  /** One step for the front end, one for the encoder, one for both short runs behind it: the sound behind `heard`. */
  async *#hearMore(samples: Int16Array, heard: Heard, isLast: boolean): Steps<Heard> {
    const sound = new Float32Array(samples.length - heard.samples);
    writeFloats(samples.subarray(heard.samples), sound, 0);
    const { features, state: frontend } = await this.#frontend.run(sound, heard.frontend);
    yield;
    const { frames, state: encoder } = await this.#encoder.encode(features, heard.encoder, isLast);
    yield;
    const count = frames?.dims[1] ?? 0;
    const added = frames === null || count === 0 ? [] : [await this.#toSpeech(frames, heard.frames)];
    const speech = [...heard.speech, ...added];
    const bytes = frontend.bytes + encoder.bytes + speech.reduce((sum, each) => sum + bytesOf(each), 0);
    return { samples: samples.length, frontend, encoder, frames: heard.frames + count, speech, bytes };
  }

  async #toSpeech(encoded: Tensor, before: number): Promise<CrossKv> {
    const offset = new Tensor('int64', BigInt64Array.of(BigInt(before)), [1]);
    const memory = tensorOf(await this.#adapter.run({ encoded, pos_offset: offset }), 'memory');
    const outputs = await this.#crossKv.run({ memory });
    return { keys: tensorOf(outputs, 'k_cross'), values: tensorOf(outputs, 'v_cross') };
  }
}

function bytesOf({ keys, values }: CrossKv): number {
  return (keys.data as Float32Array).byteLength + (values.data as Float32Array).byteLength;
}

function joined(speech: readonly CrossKv[]): CrossKv | null {
  if (speech.length === 0) return null;
  return { keys: joinFrames(speech.map(({ keys }) => keys)), values: joinFrames(speech.map(({ values }) => values)) };
}

/** Tensors [layers, 1, heads, frames, head size], one behind the other along their frames. */
function joinFrames(parts: readonly Tensor[]): Tensor {
  const [first] = parts;
  if (first === undefined || parts.length === 1) return first as Tensor;
  const [layers = 0, , heads = 0, , size = 0] = first.dims;
  const frames = parts.reduce((sum, { dims }) => sum + (dims[3] ?? 0), 0);
  const data = new Float32Array(layers * heads * frames * size);
  let at = 0;
  for (const part of parts) {
    const length = (part.dims[3] ?? 0) * size;
    const numbers = part.data as Float32Array;
    for (let head = 0; head < layers * heads; head++)
      data.set(numbers.subarray(head * length, (head + 1) * length), head * frames * size + at);
    at += length;
  }
  return new Tensor('float32', data, [layers, 1, heads, frames, size]);
}
