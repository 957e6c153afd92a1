/** Opens a folder of Whisper. */
import { basename, join } from 'node:path';
import type { SoundCost } from '../../job-costs.ts';
import type { SessionOptions } from '../../onnx.ts';
import type { RecogniserAbilities } from '../../recogniser-abilities.ts';
import { Refusal } from '../../refusal.ts';
import { costBySize } from '../graph-bytes.ts';
import { readBridge } from '../installed.ts';
import type { Asr } from '../model.ts';
import { openMergedDecoder, openStepDecoder, type WhisperDecoder } from './decoder.ts';
import { openFreeEncoder, openWholeEncoder, type WhisperEncoder } from './encoder.ts';
import { readWhisperFolder, type WhisperFolder } from './folder.ts';
import { Whisper } from './whisper.ts';

/**
 * Of a final that was half drafted: base has 105 million bytes, 4 s of speech with 28 tokens take 77 ms where the draft
 * was right and 154 where there was none.
 */
const COST_PER_MILLION_BYTES = { perJobMs: 0.14, perSecondMs: 0.24 } as const;

/** How a folder is to be opened. */
export interface WhisperOptions extends SessionOptions {
  /** Rewritten, so that the window is as long as the speech, or as they are published. */
  readonly graphs: 'rewritten' | 'shipped';
}

/** An open recogniser, and what its folder says of it. */
interface LoadedWhisper {
  readonly asr: Asr;
  /** Something an operator should know of how it runs; null = nothing. */
  readonly warning: string | null;
  readonly languages: readonly string[];
  readonly abilities: RecogniserAbilities;
  readonly cost: SoundCost;
}

/**
 * Opens the recogniser in a folder.
 * @throws Refusal when a file is missing or wrong; it names the file, what came and what was expected
 */
export async function loadWhisper(folder: string, options: WhisperOptions): Promise<LoadedWhisper> {
  const found = readWhisperFolder(folder, options.device.provider);
  const { layout, config, vocabulary } = found;
  const bridge = readBridge(folder);
  const told = bridge?.languages ?? [];
  const known = vocabulary.languages.size === 0 ? ['en'] : [...vocabulary.languages.keys()];
  const languages = told.length === 0 ? known : told;
  const name = bridge === null ? basename(folder) : bridge.name;
  const weights = layout.weights === null ? '' : ` (weights of ${layout.weights})`;
  try {
    const { encoder, warning } = await openEncoder(found, options);
    const decoder = await openDecoder(found, options);
    const { provider } = options.device;
    return {
      asr: new Whisper({ name: `${name}${weights}`, provider, config, vocabulary, encoder, decoder, languages }),
      warning,
      languages,
      abilities: {
        drafts: true,
        wordTimes: true,
        logprobs: true,
        confidence: false,
        languageGuess: languages.length > 1,
        hotWords: true,
        expectedWords: false,
        textDrafts: true,
        context: false,
        streams: false,
      },
      cost: costBySize(
        [layout.encoder, layout.decoder].map((file) => join(folder, file)),
        COST_PER_MILLION_BYTES,
      ),
    };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal('bad_settings', `the graphs in ${folder} cannot be opened: ${reason}`);
  }
}

/** A graph that cannot be rewritten is run as it is; the operators of rewritten graphs are there for the CPU alone. */
async function openEncoder(
  { layout, encoder, config }: WhisperFolder,
  options: WhisperOptions,
): Promise<{ encoder: WhisperEncoder; warning: string | null }> {
  const how = { ...options, isFree: layout.kind === 'free' };
  const isWanted = options.graphs === 'rewritten' && options.device.provider === 'cpu';
  if (!isWanted) return { encoder: await openWholeEncoder(encoder, config, how), warning: null };
  try {
    return { encoder: await openFreeEncoder(encoder, config, how), warning: null };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const cost = how.isFree ? 'urgent work waits longer' : 'each reading takes as long as one of 30 s';
    const warning = `${cost}, for the recogniser's encoder could not be rewritten: ${reason}`;
    return { encoder: await openWholeEncoder(encoder, config, how), warning };
  }
}

function openDecoder({ layout, decoder, config }: WhisperFolder, options: WhisperOptions): Promise<WhisperDecoder> {
  return layout.kind === 'free'
    ? openStepDecoder(decoder, config, options)
    : openMergedDecoder(decoder, config, options);
}
