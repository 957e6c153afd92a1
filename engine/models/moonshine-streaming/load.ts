/** Opens a folder of Moonshine streaming. */
import { basename } from 'node:path';
import type { SoundCost } from '../../job-costs.ts';
import { openSession } from '../../onnx.ts';
import type { RecogniserAbilities } from '../../recogniser-abilities.ts';
import { Refusal } from '../../refusal.ts';
import { BridgeError } from '../bridge.ts';
import { ModelFileError } from '../folder-files.ts';
import { costBySize } from '../graph-bytes.ts';
import { readBridge, reasonOf } from '../installed.ts';
import type { Asr } from '../model.ts';
import { openCachedEncoder } from './cached-encoder.ts';
import { Decoder } from './decoder.ts';
import { openPublishedEncoder, type StreamingEncoder } from './encoder.ts';
import { languageOfFolder } from './file-names.ts';
import { Frontend } from './frontend.ts';
import { Hearing } from './hearing.ts';
import { openWithProducts, type RewriteOptions } from './kept-graphs.ts';
import { type GraphFiles, readStreamingFolder, type StreamingFolder } from './layout.ts';
import { MoonshineStreaming, type StreamingParts } from './moonshine-streaming.ts';
import { reachOf } from './positions.ts';
import { WordTimes } from './word-times.ts';

/**
 * Of a reading whose draft is right, so that its decoder runs about once: encoding takes 10, 32 and 56 ms a second with
 * tiny, small and medium, whose graphs have 55, 172 and 313 million bytes, and 12 tokens 13, 30 and 58 ms. Too little
 * is better than too much: the recogniser of finals learns that it is slow, but not that it is fast, for it is then not
 * asked.
 */
const COST_PER_MILLION_BYTES = { perJobMs: 0.08, perSecondMs: 0.21 } as const;

/** How a folder is to be opened. */
export interface StreamingOptions extends RewriteOptions {
  /** Rewritten, so that they keep what they heard and do nothing twice, or as they are published. */
  readonly graphs: 'rewritten' | 'shipped';
}

/** An open recogniser, and what its folder says of it. */
interface LoadedStreaming {
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
export async function loadMoonshineStreaming(folder: string, options: StreamingOptions): Promise<LoadedStreaming> {
  const read = await readStreamingFolder(folder);
  const { warning, ...parts } = await openStreamingParts(read, options, folder);
  return {
    asr: new MoonshineStreaming(parts),
    warning,
    languages: parts.languages,
    abilities: {
      drafts: true,
      wordTimes: parts.wordTimes !== null,
      logprobs: true,
      confidence: false,
      languageGuess: false,
      hotWords: true,
      expectedWords: false,
      textDrafts: true,
      context: false,
      streams: true,
    },
    cost: costBySize(graphsOf(read.graphs), COST_PER_MILLION_BYTES),
  };
}

/** Those that every reading runs. */
function graphsOf({ frontend, frontendWeights, encoder, adapter, crossKv, decoder }: GraphFiles): string[] {
  return [frontend, frontendWeights ?? '', encoder, adapter, crossKv, decoder].filter((path) => path !== '');
}

/**
 * Opens the graphs of a folder that was read, and says what its files say of it.
 * @throws Refusal, as {@link loadMoonshineStreaming}
 */
export async function openStreamingParts(
  read: StreamingFolder,
  options: StreamingOptions,
  folder: string,
): Promise<StreamingParts & Pick<LoadedStreaming, 'warning'>> {
  const { graphs, config, tokens } = read;
  const about = { ...identify(folder), provider: options.device.provider };
  const rewriter = new Rewriter(options);
  try {
    // The largest comes first: what loading it leaves free in the heap is enough for the others.
    const decoder = await rewriter.open(
      'decoder',
      () => Decoder.openRewritten(graphs.decoder, config, options),
      () => Decoder.openPublished(graphs.decoder, config, options),
    );
    const wordTimes =
      graphs.attentionDecoder === null ? null : await WordTimes.open(graphs.attentionDecoder, config, options);
    const encoder = await rewriter.open<StreamingEncoder>(
      'encoder',
      () => openCachedEncoder(graphs.encoder, options),
      () => openPublishedEncoder(graphs.encoder, config, options),
    );
    const crossKv = await rewriter.open(
      'cross_kv',
      () => openWithProducts(graphs.crossKv, 'cross_kv', options),
      () => openSession(graphs.crossKv, options),
    );
    const adapter = await openSession(graphs.adapter, options);
    const hearing = new Hearing({ frontend: await Frontend.open(read, options), encoder, adapter, crossKv });
    const reachSamples = await reachOf(adapter, config);
    return { ...about, config, tokens, decoder, wordTimes, hearing, reachSamples, warning: rewriter.warning };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const reason = error instanceof ModelFileError || error instanceof Error ? error.message : String(error);
    throw new Refusal('bad_settings', `the graphs in ${folder} cannot be opened: ${reason}`);
  }
}

/** Opens graphs rewritten, or as they are published where they are built otherwise or the settings want it. */
class Rewriter {
  readonly #isWanted: boolean;
  readonly #failures: string[] = [];

  /** The operators of rewritten graphs are there for the CPU alone. */
  constructor({ graphs, device }: StreamingOptions) {
    this.#isWanted = graphs === 'rewritten' && device.provider === 'cpu';
  }

  /** What could not be rewritten; null = nothing. */
  get warning(): string | null {
    if (this.#failures.length === 0) return null;
    return `recognition takes longer, for not all of its graphs could be rewritten: ${this.#failures.join('; ')}`;
  }

  async open<T>(part: string, rewritten: () => Promise<T>, published: () => Promise<T>): Promise<T> {
    if (!this.#isWanted) return published();
    try {
      return await rewritten();
    } catch (error) {
      const open = await published();
      this.#failures.push(`${part}: ${error instanceof Error ? error.message : String(error)}`);
      return open;
    }
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
