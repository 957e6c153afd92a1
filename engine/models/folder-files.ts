/** The files of a recogniser's folder: read within limits and checked. What is wrong with them is said as a Refusal. */
import { readFileSync, statSync } from 'node:fs';
import { type ModelFile, readModelFile } from '../graph/model-file.ts';
import { Refusal } from '../refusal.ts';
import { reasonOf } from './installed.ts';
import { showValue } from './show-value.ts';

/** A file that cannot be used. `message` says what came and what was expected, and does not name the file. */
export class ModelFileError extends Error {}

/** The text of a file. @throws Refusal when it cannot be read, or is longer than `maxBytes` */
export function readText(path: string, maxBytes: number): string {
  let size = 0;
  try {
    ({ size } = statSync(path));
    if (size <= maxBytes) return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Refusal('model_missing', `${path} cannot be read: ${reasonOf(error)}`);
  }
  throw new Refusal('bad_settings', `${path}: got ${size} bytes, expected at most ${maxBytes}`);
}

/** A graph without its large constants. @throws Refusal when it is missing or no graph */
export function readGraph(path: string): ModelFile {
  try {
    return readModelFile(path);
  } catch (error) {
    throw new Refusal('model_missing', error instanceof Error ? error.message : String(error));
  }
}

/** What `read` makes of the file at `path`. @throws Refusal that names the file, in place of a ModelFileError */
export function refusing<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ModelFileError ? new Refusal('bad_settings', `${path}: ${error.message}`) : error;
  }
}

/** The object that a file's text holds. @throws ModelFileError */
export function toObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ModelFileError('got something that is not JSON, expected an object');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ModelFileError(`got ${showValue(value)}, expected an object`);
  return value as Readonly<Record<string, unknown>>;
}

/** Whether a value is a whole number within bounds, both included. */
export function isWhole(value: unknown, minimum: number, maximum: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum;
}

/** A whole number within bounds. @throws ModelFileError that names the property */
export function wholeIn(value: unknown, name: string, minimum: number, maximum: number): number {
  if (isWhole(value, minimum, maximum)) return value;
  throw new ModelFileError(`${name}: got ${showValue(value)}, expected a whole number from ${minimum} to ${maximum}`);
}
