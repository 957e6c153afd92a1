/** The graph of a voice: phonemes in, spectra out. */
import { floatsOf, openSession } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import type { Spectra } from './vocoder.ts';

const OUTPUTS = ['lh', 'theta', 'ln', 'lr', 'phi', 'f0'] as const;

/** Stands before and behind the phonemes. */
const PAD = 0n;

/** One voice's network. */
export class HibariGraph {
  readonly #session: InferenceSession;

  private constructor(session: InferenceSession) {
    this.#session = session;
  }

  /** Opens a voice's file. One thread: two take twice the CPU time and no less of the clock. */
  static async open(file: string): Promise<HibariGraph> {
    return new HibariGraph(await openSession(file, { device: { provider: 'cpu' }, threads: 1 }));
  }

  /** The spectra of `ids`, numbers of {@link readVocabulary}, at `speed`. */
  async run(ids: readonly number[], speed: number): Promise<Spectra> {
    const padded = [PAD, ...ids.map(BigInt), PAD];
    const outputs = await this.#session.run({
      ids: new Tensor('int64', BigInt64Array.from(padded), [1, padded.length]),
      speed: new Tensor('float32', Float32Array.of(speed), [1]),
    });
    return Object.fromEntries(OUTPUTS.map((name) => [name, floatsOf(outputs, name)] as const)) as Record<
      (typeof OUTPUTS)[number],
      Float32Array
    >;
  }
}
