/** Opens a folder of Moonshine streaming. */
import { basename } from 'node:path';
import type { RecogniserAbilities } from '../../contract.ts';
import { Refusal } from '../../refusal.ts';
import { BridgeError } from '../bridge.ts';
import { readBridge, reasonOf } from '../installed.ts';
import type { Asr } from '../model.ts';
import { type CachedEncoderOptions, openCachedEncoder } from './cached-encoder.ts';
import { ModelFileError } from './config.ts';
import { Decoder } from './decoder.ts';
import { openPublishedEncoder, type StreamingEncoder } from './encoder.ts';
import { languageOfFolder } from './file-names.ts';
import { Frontend } from './frontend.ts';
import { Hearing } from './hearing.ts';
import { readStreamingFolder, type StreamingFolder } from './layout.ts';
import { MoonshineStreaming, type StreamingParts } from './moonshine-streaming.ts';
import { WordTimes } from './word-times.ts';

/** How a folder is to be opened. */
export interface StreamingOptions extends CachedEncoderOptions {
  /** The encoder's graph: rewritten so that it keeps what it heard, or as it is published. */
  readonly graphs: 'rewritten' | 'shipped';
}

/** An open recogniser, and what its folder says of it. */
interface LoadedStreaming {
  readonly asr: Asr;
  /** Something an operator should know of how it runs; null = nothing. */
  readonly warning: string | null;
  readonly languages: readonly string[];
  readonly abilities: RecogniserAbilities;
}

/**
 * Opens the recogniser in a folder.
 * @throws Refusal when a file is missing or wrong; it names the file, what came and what was expected
 */
export async function loadMoonshineStreaming(folder: string, options: StreamingOptions): Promise<LoadedStreaming> {
  const read = await readStreamingFolder(folder);
  const { name, languages } = identify(folder);
  const { warning, ...parts } = await openParts(read, options, folder);
  const asr = new MoonshineStreaming({ ...parts, name, languages, provider: options.device.provider });
  return {
    asr,
    warning,
    languages,
    abilities: {
      drafts: true,
      wordTimes: parts.wordTimes !== null,
      logprobs: true,
      confidence: false,
      languageGuess: false,
      hotWords: true,
      textDrafts: true,
      streams: true,
    },
  };
}

type OpenParts = Omit<StreamingParts, 'name' | 'languages' | 'provider'> & Pick<LoadedStreaming, 'warning'>;

async function openParts(read: StreamingFolder, options: StreamingOptions, folder: string): Promise<OpenParts> {
  const { graphs, config, tokens } = read;
  try {
    // The largest comes first: what loading it leaves free in the heap is enough for the others.
    const decoder = await Decoder.open(graphs.decoder, config, options);
    const wordTimes =
      graphs.attentionDecoder === null ? null : await WordTimes.open(graphs.attentionDecoder, config, options);
    const { encoder, warning } = await openEncoder(read, options);
    const frontend = await Frontend.open(read, options);
    const hearing = await Hearing.open({ frontend, encoder }, read, options);
    return { config, tokens, decoder, wordTimes, hearing, warning };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const reason = error instanceof ModelFileError || error instanceof Error ? error.message : String(error);
    throw new Refusal('bad_settings', `the graphs in ${folder} cannot be opened: ${reason}`);
  }
}

/** The operators of the rewritten graph are there for the CPU alone. */
async function openEncoder(
  { graphs, config }: StreamingFolder,
  options: StreamingOptions,
): Promise<{ readonly encoder: StreamingEncoder; readonly warning: string | null }> {
  const openPublished = () => openPublishedEncoder(graphs.encoder, config, options);
  if (options.graphs === 'shipped' || options.device.provider !== 'cpu')
    return { encoder: await openPublished(), warning: null };
  try {
    return { encoder: await openCachedEncoder(graphs.encoder, options), warning: null };
  } catch (error) {
    const encoder = await openPublished();
    const reason = error instanceof Error ? error.message : String(error);
    const warning = `live recognition takes some times the time, for its encoder could not be rewritten: ${reason}`;
    return { encoder, warning };
  }
}

/** What `bridge.json` says, or else the folder's name. */
function identify(folder: string): { readonly name: string; readonly languages: readonly string[] } {
  const named = { name: basename(folder), languages: [languageOfFolder(folder) ?? 'en'] };
  try {
    const bridge = readBridge(folder);
    if (bridge === null) return named;
    return { name: bridge.name, languages: bridge.languages.length === 0 ? named.languages : bridge.languages };
  } catch (error) {
    if (error instanceof BridgeError) throw new Refusal('bad_settings', `${folder}: bridge.json: ${reasonOf(error)}`);
    throw error;
  }
}
