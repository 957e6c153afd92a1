/**
 * `bridge.json`, which says what an installed model's folder holds. The command line writes it, the engine reads it.
 * Beside the contract, this file, `installed.ts`, `folder-names.ts`, `recogniser-folders.ts` and `process-memory.ts`
 * are the only ones that both import.
 */

import { showValue } from './show-value.ts';

/** The name of the file in a model's folder. */
export const BRIDGE_FILE = 'bridge.json';

/** Longest `bridge.json`, in bytes. */
export const BRIDGE_MAX_BYTES = 1_048_576;

/** The model families that a folder can be of. */
export const FAMILIES = [
  'hibari',
  'kokoro',
  'smart-turn',
  'moonshine',
  'moonshine-streaming',
  'parakeet-tdt',
  'qwen3-asr',
  'whisper',
  'piper',
] as const;
export type Family = (typeof FAMILIES)[number];

const RECOGNISERS: readonly Family[] = ['moonshine', 'moonshine-streaming', 'parakeet-tdt', 'qwen3-asr', 'whisper'];

/** Whether a folder of this family is a recogniser. */
export function isRecogniser(family: Family): boolean {
  return RECOGNISERS.includes(family);
}

/** What `bridge.json` says of the folder that it lies in. */
export interface Bridge {
  readonly format: 1;
  readonly family: Family;
  /** As the settings and the commands call it, and as its folder is called. */
  readonly name: string;
  readonly version: string;
  /** BCP-47; empty = the model knows no language from another. */
  readonly languages: readonly string[];
  /** SPDX identifier, or the licence's name. */
  readonly licence: string;
  /** SHA-256 in lower-case hexadecimal of every other file, by its path from the folder, with `/`. */
  readonly files: Readonly<Record<string, string>>;
}

/** A `bridge.json` that cannot be used. `message` names the property, what came and what was expected. */
export class BridgeError extends Error {}

const FILES_MAX = 1000;
const LANGUAGES_MAX = 200;
const NAME = /^[a-z0-9][a-z0-9.-]{0,63}$/;
const VERSION = /^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$/;
const LANGUAGE = /^[a-z]{2,3}(-[0-9A-Za-z]{2,8}){0,4}$/;
const LICENCE = /^[ -~]{1,200}$/;
const FILE = /^[0-9A-Za-z_][0-9A-Za-z._+-]{0,127}(\/[0-9A-Za-z_][0-9A-Za-z._+-]{0,127}){0,3}$/;
const SHA256 = /^[0-9a-f]{64}$/;

const PROPERTIES: readonly string[] = ['format', 'family', 'name', 'version', 'languages', 'licence', 'files'];

/** Whether `name` can be a model's: lower-case letters, digits, dots and hyphens. */
export function isModelName(name: string): boolean {
  return NAME.test(name);
}

/** Whether `path` can name a file in a model's folder: relative, with `/`, and without hidden parts. */
export function isModelFile(path: string): boolean {
  return FILE.test(path) && path !== BRIDGE_FILE;
}

/**
 * Reads the text of a `bridge.json`.
 * @throws BridgeError
 */
export function parseBridge(text: string): Bridge {
  const value = toObject(text);
  const unknown = Object.keys(value).find((name) => !PROPERTIES.includes(name));
  if (unknown !== undefined)
    throw new BridgeError(`got the property ${showValue(unknown)}, expected only ${PROPERTIES.join(', ')}`);
  const { format, languages } = value;
  if (format !== 1) throw new BridgeError(`format: got ${showValue(format)}, expected 1; a later release may read it`);
  const family = FAMILIES.find((known) => known === value['family']);
  if (family === undefined)
    throw new BridgeError(`family: got ${showValue(value['family'])}, expected one of ${FAMILIES.join(', ')}`);
  if (!Array.isArray(languages) || languages.length > LANGUAGES_MAX)
    throw new BridgeError(`languages: got ${showValue(languages)}, expected an array of at most ${LANGUAGES_MAX}`);
  return {
    format,
    family,
    name: textLike(value, 'name', NAME, 'lower-case letters, digits, dots and hyphens'),
    version: textLike(value, 'version', VERSION, 'a version such as 1.0'),
    languages: languages.map((language) => checkLanguage(language)),
    licence: textLike(value, 'licence', LICENCE, 'a line such as MIT'),
    files: checkFiles(value['files']),
  };
}

/** The text of a `bridge.json`. */
export function formatBridge(bridge: Bridge): string {
  return `${JSON.stringify(bridge, null, 2)}\n`;
}

function toObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BridgeError('got something that is not JSON, expected an object');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BridgeError(`got ${showValue(value)}, expected an object`);
  return value as Readonly<Record<string, unknown>>;
}

function textLike(from: Readonly<Record<string, unknown>>, property: string, form: RegExp, expected: string): string {
  const value = from[property];
  if (typeof value === 'string' && form.test(value)) return value;
  throw new BridgeError(`${property}: got ${showValue(value)}, expected ${expected}`);
}

function checkLanguage(value: unknown): string {
  if (typeof value === 'string' && LANGUAGE.test(value)) return value;
  throw new BridgeError(`languages: got ${showValue(value)}, expected BCP-47 tags such as en-US`);
}

function checkFiles(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BridgeError(`files: got ${showValue(value)}, expected an object of names and SHA-256`);
  const files = Object.entries(value);
  if (files.length === 0 || files.length > FILES_MAX)
    throw new BridgeError(`files: got ${files.length}, expected 1 to ${FILES_MAX}`);
  for (const [path, sha256] of files) {
    if (!isModelFile(path))
      throw new BridgeError(`files: got ${showValue(path)}, expected paths inside of the folder, without hidden parts`);
    if (typeof sha256 !== 'string' || !SHA256.test(sha256))
      throw new BridgeError(`files: ${path}: got ${showValue(sha256)}, expected a SHA-256 of 64 hexadecimal digits`);
  }
  return Object.fromEntries(files);
}
