/** Opens a folder of Qwen3-ASR. */
import { basename, join } from 'node:path';
import { findProductType } from '../../graph/product-type.ts';
import type { WeightType } from '../../graph/weights.ts';
import type { SoundCost } from '../../job-costs.ts';
import type { Device } from '../../onnx.ts';
import { openPacked, type PackedOptions, type PackedSession } from '../../packed-weights.ts';
import { Refusal } from '../../refusal.ts';
import { namesInFolder } from '../folder-names.ts';
import { costBySize, graphBytes } from '../graph-bytes.ts';
import { readBridge } from '../installed.ts';
import type { Asr } from '../model.ts';
import { openAligner } from './aligner/folder.ts';
import type { QwenConfig } from './config.ts';
import { LoopDecoder, type LoopOptions } from './decoder.ts';
import { type EncoderOptions, QwenEncoder } from './encoder.ts';
import { readQwenFolder } from './folder.ts';
import { nameOfLanguage } from './languages.ts';
import { findQwenFiles, isOurLayout, QWEN_FILES } from './layout.ts';
import { findPublishedLayout } from './published-layout.ts';
import { openPublished, type PublishedParts } from './published-load.ts';
import { Qwen3Asr } from './qwen3-asr.ts';

/**
 * Measured with random weights of 8 bits in the shape of 0.6B, 955 million bytes, without a draft: 0.92 s for 4 s of
 * speech and 24 tokens.
 */
const COST_PER_MILLION_BYTES = { perJobMs: 0.065, perSecondMs: 0.21 } as const;

/** The language that is assumed where it is understood. */
const ASSUMED = 'English';

/**
 * A token takes about so long for each million bytes of the decoder, and a run on a CPU adds as many as take that long:
 * 6 of 0.6B. With 6 in a run a text behind 4 s takes 2 % longer than in one run and one behind 30 s 7 %, for keys and
 * values come here and go back; with one in a run 36 % and 270 %. To read the prompt takes 140 ms and 0.96 s,
 * 2.2 ms for each of its tokens: a long one is read in parts.
 */
const TOKEN_MS_PER_MILLION_BYTES = 0.035;
const RUN_MAX_MS = 150;
const PROMPT_TOKEN_MS_PER_MILLION_BYTES = 0.0023;
const PROMPT_RUN_MAX_MS = 500;
const PROMPT_RUN_MIN_TOKENS = 32;
/** Of a GPU, to which nothing has to be brought back between tokens. */
const CUDA_RUN_TOKENS = 32;
const MILLION_BYTES = 1e6;

/** Weights of 8 bits, signed and unsigned. */
const EIGHT_BITS: readonly QwenConfig['dtype'][] = ['int8', 'uint8'];

const CPU_WARNING = 'it runs on the CPU, for only graphs of our own exporter run on a GPU';

const INPUTS = {
  encoder: ['mel', 'tokens', 'windows'],
  decoder: [
    'prompt_ids',
    'pads',
    'draft_ids',
    'draft_lengths',
    'audio_features',
    'past_keys',
    'past_values',
    'max_new_tokens',
    'eos_ids',
  ],
} as const;

/** How a folder is opened. */
export interface QwenOptions {
  readonly device: Device;
  /** Intra-op threads of one model run. */
  readonly threads: number;
  /** Tokens of one decoder run at most, on a CPU. */
  readonly runTokens: number;
  /** Whether a published decoder may be changed to give no more logits than are looked at. */
  readonly graphs: 'rewritten' | 'shipped';
  /** Folder of the weights that engines share. */
  readonly cacheDir: string;
  /** Is told what takes a while. */
  readonly progress: (text: string) => void;
}

/** A model that is open. */
export interface LoadedQwen {
  readonly asr: Asr;
  /** Something an operator should know of how it runs; null = nothing. */
  readonly warning: string | null;
  /** BCP-47, the one that is assumed first. */
  readonly languages: readonly string[];
  /** Whether it says when words were said. */
  readonly wordTimes: boolean;
  readonly cost: SoundCost;
}

/**
 * Opens the model in a folder.
 * @param folder absolute path
 * @throws Refusal when the folder has no such model, or one that cannot be used; whatever onnxruntime throws for a
 * graph that it cannot run
 */
export async function loadQwen3Asr(folder: string, options: QwenOptions): Promise<LoadedQwen> {
  const { provider, warning, graphs, encoderOptions, ...parts } = await openParts(folder, options);
  const device: Device = provider === 'cpu' ? { provider } : options.device;
  const aligner = await openAligner(folder, { ...options, device }, encoderOptions);
  const bridge = readBridge(folder);
  const told = (bridge?.languages ?? []).filter((language) => nameOfLanguage(language) !== null);
  const languages = assumedFirst(told.length > 0 ? told : parts.config.languages);
  const name = bridge === null ? basename(folder) : `${bridge.name}-${bridge.version}`;
  const asr = new Qwen3Asr({ ...parts, name, provider, aligner, languages });
  const cost = costBySize(graphs, COST_PER_MILLION_BYTES);
  return { asr, warning, languages, wordTimes: aligner !== null, cost };
}

/** An open model, and where it runs. */
interface OpenQwen extends PublishedParts {
  readonly provider: Asr['provider'];
  readonly batchMax: number;
  readonly encoderOptions: EncoderOptions;
}

async function openParts(folder: string, options: QwenOptions): Promise<OpenQwen> {
  const names = namesInFolder(folder);
  const { missing } = findQwenFiles(names);
  if (missing.length > 0) throw new Refusal('model_missing', `${folder} lacks ${missing.join(', ')}`);
  const layout = isOurLayout(names) ? null : findPublishedLayout(names);
  if (layout === null) return openOurs(folder, options);
  const parts = await openPublished(folder, layout, { ...options, device: { provider: 'cpu' } });
  const warnings = [parts.warning, options.device.provider === 'cpu' ? null : CPU_WARNING];
  const { encoder: encoderOptions, decoder } = cpuRuns(options, 0);
  return {
    ...parts,
    provider: 'cpu',
    batchMax: decoder.batchMax,
    encoderOptions,
    warning: warnings.filter((each) => each !== null).join('; ') || null,
  };
}

async function openOurs(folder: string, options: QwenOptions): Promise<OpenQwen> {
  const { config, tokenizer, prompts } = readQwenFolder(folder);
  const encoderPath = join(folder, QWEN_FILES.encoder);
  const decoderPath = join(folder, QWEN_FILES.decoder);
  const encoder = await openGraphOf(encoderPath, INPUTS.encoder, options);
  const decoder = await openGraphOf(decoderPath, INPUTS.decoder, options);
  const { provider } = options.device;
  const runs = provider === 'cuda' ? cudaRuns(config) : cpuRuns(options, graphBytes(decoderPath));
  return {
    config,
    tokenizer,
    prompts,
    encoder: new QwenEncoder(encoder.session, config, runs.encoder),
    decoder: new LoopDecoder(decoder.session, config, runs.decoder),
    provider,
    batchMax: runs.decoder.batchMax,
    encoderOptions: runs.encoder,
    warning: typeWarning(config, provider, await findProductType()) ?? encoder.warning ?? decoder.warning,
    graphs: [encoderPath, decoderPath],
  };
}

/** Lists of languages are in the order of their names. What is assumed counts only where a draft names no language. */
function assumedFirst(languages: readonly string[]): readonly string[] {
  const assumed = languages.find((language) => nameOfLanguage(language) === ASSUMED);
  return assumed === undefined ? languages : [assumed, ...languages.filter((language) => language !== assumed)];
}

/**
 * What an operator should know of weights of a type on a device; null = nothing.
 * @param products which 8-bit weights the processor multiplies exactly
 */
export function typeWarning(
  { dtype }: Pick<QwenConfig, 'dtype'>,
  provider: Device['provider'],
  products: WeightType,
): string | null {
  if (provider === 'cuda' && EIGHT_BITS.includes(dtype))
    return 'products of 8-bit weights are made on the CPU in the middle of each token: a GPU wants weights of f16';
  if (provider === 'cpu' && dtype === 'int8' && products === 'uint8')
    return 'sums of signed 8-bit weights overflow on this processor, and texts are worse: export with --unsigned';
  return null;
}

/** How graphs are run. */
interface Runs {
  readonly encoder: EncoderOptions;
  readonly decoder: LoopOptions;
}

/** Many rows at once. What a run left on the device is computed again: it would have to be brought here and back. */
function cudaRuns({ batchMax }: QwenConfig): Runs {
  return {
    encoder: { isWindowed: false, isRounded: true, batchMax },
    decoder: { runTokens: CUDA_RUN_TOKENS, keepsPast: false, batchMax },
  };
}

/** Short runs, so that urgent work waits for none of them long. */
function cpuRuns({ runTokens }: QwenOptions, decoderBytes: number): Runs {
  const millions = decoderBytes / MILLION_BYTES;
  const tokens = Math.min(Math.max(Math.round(RUN_MAX_MS / (millions * TOKEN_MS_PER_MILLION_BYTES)), 1), runTokens);
  const read = Math.floor(PROMPT_RUN_MAX_MS / (millions * PROMPT_TOKEN_MS_PER_MILLION_BYTES));
  return {
    encoder: { isWindowed: true, isRounded: false, batchMax: 1 },
    decoder: {
      runTokens: tokens,
      promptTokens: Math.max(read, PROMPT_RUN_MIN_TOKENS),
      keepsPast: true,
      batchMax: 1,
    },
  };
}

async function openGraphOf(path: string, inputs: readonly string[], options: PackedOptions): Promise<PackedSession> {
  const opened = await openPacked(path, options);
  const { session } = opened;
  const missing = inputs.filter((name) => !session.inputNames.includes(name));
  if (missing.length === 0) return opened;
  throw new Refusal(
    'bad_settings',
    `${path}: got the inputs ${session.inputNames.join(', ')}, expected ${missing.join(', ')} among them`,
  );
}
