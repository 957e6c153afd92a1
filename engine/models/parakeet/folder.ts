/**
 * The two layouts in which Parakeet TDT is published: that of onnx-asr (two graphs, `vocab.txt`, `config.json`) and
 * that of sherpa-onnx (three graphs, `tokens.txt`, numbers in the encoder's own metadata).
 * https://github.com/istupakov/onnx-asr, https://k2-fsa.github.io/sherpa/onnx/
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelFile } from '../../graph/model-file.ts';
import { Refusal } from '../../refusal.ts';
import { readGraph, readText, refusing, toObject } from '../folder-files.ts';
import { showValue } from '../show-value.ts';
import { findLayout, type ParakeetLayout } from './layout.ts';

/** A folder of Parakeet TDT, read but for its weights. */
export interface ParakeetFolder {
  readonly layout: ParakeetLayout;
  readonly encoder: ModelFile;
  /** Prediction and joint network in one graph, or in two. */
  readonly decoders: readonly ModelFile[];
  /** What each token writes, the blank's last. */
  readonly pieces: readonly string[];
  /** Bands of the features. */
  readonly bands: number;
  /** Frames of 10 ms that become one. */
  readonly subsampling: number;
}

const TEXT_MAX_BYTES = 4 * 2 ** 20;
const BLANK = '<blk>';

/** What sherpa-onnx calls its numbers, and config.json its own. */
const PROPERTIES = {
  bands: { sherpa: 'feat_dim', istupakov: 'features_size' },
  subsampling: { sherpa: 'subsampling_factor', istupakov: 'subsampling_factor' },
} as const;

/** Those of the models that NVIDIA publishes. */
const USUAL = { bands: 128, subsampling: 8 } as const;

/** @throws Refusal when the folder cannot be read, or has another model */
export function readParakeetFolder(folder: string): ParakeetFolder {
  const layout = findLayout(readdirSync(folder));
  if (layout === null) throw new Refusal('model_missing', `${folder} does not have the files of a Parakeet TDT model`);
  const encoder = readGraph(join(folder, layout.encoder));
  const numbers = layout.kind === 'sherpa' ? encoder.metadata : readConfig(folder);
  const number = (property: keyof typeof PROPERTIES): number => {
    const name = PROPERTIES[property][layout.kind];
    const written = numbers.get(name) ?? USUAL[property];
    // Metadata are texts. A list is no number, though JavaScript makes one of [128].
    const value = typeof written === 'object' ? Number.NaN : Number(written);
    if (Number.isInteger(value) && value > 0 && value <= 1024) return value;
    throw new Refusal('bad_settings', `${folder}: ${name}: got ${showValue(written)}, expected a number up to 1024`);
  };
  const normalized = encoder.metadata.get('normalize_type') ?? 'per_feature';
  if (normalized !== 'per_feature')
    throw new Refusal('bad_settings', `${folder}: normalize_type: got ${normalized}, expected per_feature`);
  return {
    layout,
    encoder,
    decoders: layout.decoders.map((name) => readGraph(join(folder, name))),
    pieces: readPieces(join(folder, layout.tokens)),
    bands: number('bands'),
    subsampling: number('subsampling'),
  };
}

/** The properties of config.json, which need not be there. */
function readConfig(folder: string): ReadonlyMap<string, unknown> {
  const path = join(folder, 'config.json');
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return new Map();
  return new Map(Object.entries(refusing(path, () => toObject(readText(path, TEXT_MAX_BYTES)))));
}

/** Each line has a piece, a space and its number; the numbers count from 0, and the last is the blank's. */
function readPieces(path: string): readonly string[] {
  const lines = readText(path, TEXT_MAX_BYTES)
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line !== '');
  const pieces = lines.map((line, index) => {
    const space = line.lastIndexOf(' ');
    if (space > 0 && line.slice(space + 1) === String(index)) return line.slice(0, space);
    throw new Refusal('bad_settings', `${path}: line ${index + 1}: expected a piece, a space and ${index}`);
  });
  if (pieces.at(-1) !== BLANK)
    throw new Refusal('bad_settings', `${path}: expected ${BLANK} in the last line, as transducers have it`);
  return pieces;
}
