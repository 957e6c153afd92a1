/** Graphs that are run in parts. */
import { dirname } from 'node:path';
import { type GraphPart, partBytes, type ValueShape } from '../graph/cut.ts';
import type { ModelFile } from '../graph/model-file.ts';
import { openGraph, type SessionOptions, tensorOf } from '../onnx.ts';
import type { InferenceSession, Tensor } from '../onnxruntime.ts';

/** Values by name. */
export type Values = Map<string, Tensor>;

/** One part, open. */
export class OpenPart {
  readonly #part: GraphPart;
  readonly #session: InferenceSession;

  constructor(part: GraphPart, session: InferenceSession) {
    this.#part = part;
    this.#session = session;
  }

  /** One model run: takes its inputs from `values` and adds its outputs. @throws Error when one is missing */
  async run(values: Values): Promise<void> {
    const feeds: Record<string, Tensor> = {};
    for (const name of this.#part.inputs) {
      const value = values.get(name);
      if (value === undefined) throw new Error(`the model was given no ${name}`);
      feeds[name] = value;
    }
    const outputs = await this.#session.run(feeds);
    for (const name of this.#part.outputs) values.set(name, tensorOf(outputs, name));
  }
}

/**
 * Opens parts in their order: the types of what passes between them are known when those before are open.
 * @throws Error that names the file, when a constant cannot be read or onnxruntime cannot run a part
 */
export async function openParts(
  model: ModelFile,
  parts: readonly GraphPart[],
  options: SessionOptions,
): Promise<OpenPart[]> {
  try {
    return await openInOrder(model, parts, options);
  } catch (error) {
    throw new Error(`${model.path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function openInOrder(
  model: ModelFile,
  parts: readonly GraphPart[],
  options: SessionOptions,
): Promise<OpenPart[]> {
  const shapes = new Map<string, ValueShape>();
  const open: OpenPart[] = [];
  for (const part of parts) {
    const bytes = partBytes(model, part, (name) => shapes.get(name));
    const session = await openGraph(bytes, dirname(model.path), options);
    for (const [name, shape] of shapesOf(session)) shapes.set(name, shape);
    open.push(new OpenPart(part, session));
  }
  return open;
}

/** Of the outputs of an open graph, by their names. */
export function shapesOf({ outputMetadata }: InferenceSession): ReadonlyMap<string, ValueShape> {
  const tensors = outputMetadata.flatMap((value) => (value.isTensor ? [value] : []));
  return new Map(tensors.map(({ name, type, shape }) => [name, { type, shape }]));
}
