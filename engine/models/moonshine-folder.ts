/**
 * A folder of Moonshine tiny or base as it is published: `encoder_model` and `decoder_model_merged`, as .onnx or .ort,
 * and `tokenizer.bin`. https://github.com/moonshine-ai/moonshine
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SoundCost } from '../job-costs.ts';
import type { SessionOptions } from '../onnx.ts';
import { Refusal } from '../refusal.ts';
import { ModelFileError } from './folder-files.ts';
import { costBySize } from './graph-bytes.ts';
import { readBridge, reasonOf } from './installed.ts';
import type { Asr } from './model.ts';
import { Moonshine } from './moonshine.ts';
import { findMoonshineFiles, languageOfMoonshine, MOONSHINE_TOKENIZER_FILE } from './moonshine-file-names.ts';
import { openShippedGraphs } from './moonshine-shipped.ts';
import { readTokens, TOKENIZER_MAX_BYTES, TokenTable } from './moonshine-streaming/token-table.ts';

/** Base has 62 million bytes; its published graphs take some four times as long as those of tiny that we rewrite. */
const COST_PER_MILLION_BYTES = { perJobMs: 0.065, perSecondMs: 0.4 } as const;

const ENGLISH = 'en';

/** https://github.com/moonshine-ai/moonshine/blob/main/LICENSE, section 2 */
const LICENCE_WARNING =
  'the licence of Moonshine models that do not stream and are not English (Moonshine AI Community License) forbids ' +
  'business use without a registration with Moonshine AI, and above 1,000,000 USD of revenue a year altogether';

/** An open recogniser, and what its folder says of it. */
interface LoadedMoonshine {
  readonly asr: Asr;
  /** Null = nothing. */
  readonly warning: string | null;
  readonly languages: readonly string[];
  readonly cost: SoundCost;
}

/**
 * Opens the recogniser in a folder.
 * @throws Refusal when a file is missing or wrong; it names the file, what came and what was expected
 */
export async function loadMoonshineFolder(folder: string, options: SessionOptions): Promise<LoadedMoonshine> {
  const { encoder, decoder } = findGraphs(folder);
  const { name, languages } = identify(folder);
  try {
    const graphs = await openShippedGraphs({ encoder, decoder }, options);
    const { vocabularySize } = graphs.shape;
    const texts = readTokenTable(join(folder, MOONSHINE_TOKENIZER_FILE), vocabularySize);
    const asr = new Moonshine(graphs, {
      name,
      provider: options.device.provider,
      languages,
      vocabularySize,
      texts,
      hotWords: {
        encode: (text) => texts.encode(text),
        textOf: (token) => new TextDecoder().decode(texts.pieceOf(token)),
      },
    });
    const isFree = languages.every((language) => language.split('-')[0] === ENGLISH);
    const cost = costBySize([encoder, decoder], COST_PER_MILLION_BYTES);
    return { asr, languages, warning: isFree ? null : LICENCE_WARNING, cost };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal('bad_settings', `${folder} cannot be opened: ${reason}`);
  }
}

function findGraphs(folder: string): { readonly encoder: string; readonly decoder: string } {
  try {
    const { files, missing } = findMoonshineFiles(readdirSync(folder));
    const [encoder, decoder] = files.map((file) => join(folder, file));
    if (missing.length === 0 && encoder !== undefined && decoder !== undefined) return { encoder, decoder };
    throw new Refusal('model_missing', `${folder} lacks ${missing.join(', ')}`);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('model_missing', `${folder} cannot be read: ${reasonOf(error)}`);
  }
}

function readTokenTable(path: string, vocabularySize: number): TokenTable {
  const { size } = statSync(path);
  if (size > TOKENIZER_MAX_BYTES)
    throw new ModelFileError(`${path}: got ${size} bytes, expected at most ${TOKENIZER_MAX_BYTES}`);
  return new TokenTable(readTokens(readFileSync(path), vocabularySize));
}

/** What `bridge.json` says, or else the folder's name. */
function identify(folder: string): { readonly name: string; readonly languages: readonly string[] } {
  const named = [languageOfMoonshine(folder) ?? ENGLISH];
  const bridge = readBridge(folder);
  if (bridge === null) return { name: basename(folder), languages: named };
  return { name: bridge.name, languages: bridge.languages.length === 0 ? named : bridge.languages };
}
