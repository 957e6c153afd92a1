/** What an open graph says of its inputs and outputs. */
import type { InferenceSession } from '../../onnxruntime.ts';
import { ModelFileError } from '../folder-files.ts';

/**
 * The length of one axis of a tensor, by its name.
 * @throws ModelFileError when there is no such tensor, or its length is only known when the graph runs
 */
export function widthOf(values: readonly InferenceSession.ValueMetadata[], name: string, axis: number): number {
  const value = values.find((each) => each.name === name);
  if (value === undefined)
    throw new ModelFileError(`got ${values.map((each) => each.name).join(', ') || 'nothing'}, expected ${name}`);
  const length = value.isTensor ? value.shape[axis] : undefined;
  if (typeof length === 'number' && length > 0) return length;
  throw new ModelFileError(`${name}: got the length ${length} of axis ${axis}, expected a number`);
}
