/**
 * The two networks that turn frames into tokens: the prediction network reads the text so far, the joint network scores
 * what comes next at a frame. The first is run for each token, the second for each step, also where a folder has both
 * in one graph: that graph is cut.
 */

import { cutByInputs, wholePart } from '../../graph/cut.ts';
import type { ModelFile } from '../../graph/model-file.ts';
import type { SessionOptions } from '../../onnx.ts';
import { Tensor } from '../../onnxruntime.ts';
import { type OpenPart, openParts, type Values } from '../cut-graph.ts';

/** What the prediction network made of a text. */
export type TextState = Values;

/** Names of the values that go in and come out. */
interface Names {
  readonly target: string;
  readonly targetLength: string;
  readonly states: readonly [string, string];
  readonly nextStates: readonly [string, string];
  readonly frame: string;
  /** What the text says to the joint network, and what that calls it; null where the two are one graph. */
  readonly text: { readonly made: string; readonly taken: string } | null;
  readonly logits: string;
}

/** Both networks, open. */
export class JointNetwork {
  readonly #reader: OpenPart;
  readonly #scorer: OpenPart;
  readonly #names: Names;
  readonly #stateDims: readonly number[];

  constructor(parts: { reader: OpenPart; scorer: OpenPart }, names: Names, stateDims: readonly number[]) {
    this.#reader = parts.reader;
    this.#scorer = parts.scorer;
    this.#names = names;
    this.#stateDims = stateDims;
  }

  /** One model run: the state of a text that ends in `token`. @param before null = there was no text */
  async read(token: number, before: TextState | null): Promise<TextState> {
    const { target, targetLength, states, nextStates, text } = this.#names;
    const values: Values = new Map<string, Tensor>([
      [target, new Tensor('int32', Int32Array.of(token), [1, 1])],
      [targetLength, new Tensor('int32', Int32Array.of(1), [1])],
    ]);
    for (const [index, name] of states.entries())
      values.set(name, before?.get(nextStates[index] ?? '') ?? zeros(this.#stateDims));
    await this.#reader.run(values);
    const made = text === null ? undefined : values.get(text.made);
    if (text !== null && made !== undefined) values.set(text.taken, made);
    return values;
  }

  /** One model run: the logits of all tokens, the blank and the durations, at a frame behind a text. */
  async score(frame: Float32Array, text: TextState): Promise<Float32Array> {
    const values: Values = new Map(text);
    values.set(this.#names.frame, new Tensor('float32', frame, [1, frame.length, 1]));
    await this.#scorer.run(values);
    const logits = values.get(this.#names.logits)?.data;
    if (logits instanceof Float32Array) return logits;
    throw new Error(`the model's ${this.#names.logits} are not float32`);
  }
}

function zeros(dims: readonly number[]): Tensor {
  const length = dims.reduce((product, dim) => product * dim, 1);
  return new Tensor('float32', new Float32Array(length), [...dims]);
}

/**
 * Opens the networks of a folder: one graph with both, or one of each.
 * @throws Error when they have not the inputs and outputs that are known
 */
export async function openJoint(models: readonly ModelFile[], options: SessionOptions): Promise<JointNetwork> {
  const [first, second] = models;
  if (first === undefined) throw new Error('there is no joint network');
  const reads = namesOf(first.inputs);
  const gives = namesOf(first.outputs);
  const [frame = ''] = second === undefined ? reads : namesOf(second.inputs);
  const [target = '', targetLength = '', ...states] = second === undefined ? reads.slice(1) : reads;
  const [made = '', , ...nextStates] = gives;
  const [logits = '', taken = ''] =
    second === undefined ? [made] : [namesOf(second.outputs)[0] ?? '', namesOf(second.inputs)[1] ?? ''];
  if (states.length !== 2 || nextStates.length < 2)
    throw new Error(`${first.path}: got the inputs ${reads.join(', ')}, expected a token and two states`);
  const parts =
    second === undefined
      ? await openParts(first, cutByInputs(first, [frame]), options)
      : [
          ...(await openParts(first, [wholePart(first)], options)),
          ...(await openParts(second, [wholePart(second)], options)),
        ];
  const [reader, scorer] = parts;
  if (reader === undefined || scorer === undefined) throw new Error(`${first.path} has not both networks`);
  return new JointNetwork(
    { reader, scorer },
    {
      target,
      targetLength,
      states: pairOf(states),
      nextStates: pairOf(nextStates),
      frame,
      text: second === undefined ? null : { made, taken },
      logits,
    },
    dimsOf(first, states[0] ?? ''),
  );
}

function namesOf(values: ModelFile['inputs']): string[] {
  return values.map(({ name = '' }) => name);
}

function pairOf([first = '', second = '']: readonly string[]): readonly [string, string] {
  return [first, second];
}

/** Of an input; lengths that are open are 1: there is one text. */
function dimsOf({ inputs, path }: ModelFile, name: string): number[] {
  const dims = inputs.find((input) => input.name === name)?.type?.tensorType?.shape?.dim ?? [];
  if (dims.length !== 3) throw new Error(`${path}: ${name}: got ${dims.length} axes, expected layers, 1 and a width`);
  return dims.map(({ dimValue }) => Number(dimValue ?? 1n));
}
