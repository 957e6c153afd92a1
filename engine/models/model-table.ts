/**
 * The models there are, one row each. A model's own file is imported only when its row is loaded, so that the pretend
 * models need no onnxruntime. Everything else that must be known of a model stands here or comes from the loaded model:
 * nothing outside this folder names one.
 */
import type { EngineSettings } from '../contract.ts';
import type { SoundCost, TextCost } from '../job-costs.ts';
import type { Device } from '../onnx.ts';
import type { RecogniserAbilities } from '../recogniser-abilities.ts';
import type { Family } from './bridge.ts';
import { findInstalled } from './installed.ts';
import type { Lexicon } from './lexicon.ts';
import type { Asr, Tts, TurnDetector, Vad } from './model.ts';
import { findMoonshineFiles } from './moonshine-file-names.ts';
import { isStreamingLayout } from './moonshine-streaming/file-names.ts';
import { FLITE_FILE, MOONSHINE_FILES, type PackageFile, SILERO_FILE } from './package-files.ts';
import { findLayout as findParakeetLayout } from './parakeet/layout.ts';
import { QWEN_LANGUAGES } from './qwen3-asr/languages.ts';
import { findQwenFiles } from './qwen3-asr/layout.ts';
import { findWhisperFiles } from './whisper/layout.ts';

/** What a model is loaded with. */
export interface LoadContext {
  readonly settings: EngineSettings;
  /** Where it is to run. */
  readonly device: Device;
  /** Words that the operator wants said in a way of their own. Respellings are in the texts already. */
  readonly lexicon: Lexicon;
  /** Is told what takes a while, in words for the operator. */
  readonly progress: (text: string) => void;
  /** Of a recogniser that is installed: its folder, an absolute path; null = it is in the npm packages. */
  readonly folder: string | null;
}

/** A recogniser that is loaded. What a folder says of itself goes before what the table says of its family. */
export interface LoadedRecogniser {
  readonly asr: Asr;
  /** Something an operator should know of how it runs; null = nothing. */
  readonly warning: string | null;
  /** BCP-47, as {@link RecogniserRow.languages}. */
  readonly languages?: readonly string[];
  readonly abilities?: RecogniserAbilities;
  readonly cost?: SoundCost;
}

/** Recognisers that are folders: how a folder without a `bridge.json` is known, and what they are called. */
export interface RecogniserFamily {
  readonly name: Family;
  /** Whether these are the files of one, by their names. */
  isLaidOut(files: readonly string[]): boolean;
}

interface Row {
  /** As the settings and the API call it. */
  readonly name: string;
  /** Files that must be there before it is loaded. */
  readonly files: readonly PackageFile[];
}

/** A family of recognisers. */
export interface RecogniserRow extends Row {
  readonly kind: 'recogniser';
  /** Null = one recogniser that is in the npm packages. */
  readonly family: RecogniserFamily | null;
  /** BCP-47, the one that is assumed where nobody names a language first. */
  readonly languages: readonly string[];
  readonly abilities: RecogniserAbilities;
  readonly cost: SoundCost;
  /** Of those in the npm packages; SPDX. Null = the folder says it, or nobody does. */
  readonly licence: string | null;
  readonly runsOn: readonly Device['provider'][];
  load(context: LoadContext): Promise<LoadedRecogniser>;
}

/** A family of synthesizers. Its languages are those of its voices. */
export interface SynthesizerRow extends Row {
  readonly kind: 'synthesizer';
  readonly cost: TextCost;
  /** `warning`: what an operator should know, e.g. of a model that was left out; null = nothing. */
  load(context: LoadContext): Promise<{ readonly tts: Tts; readonly warning: string | null }>;
}

/** A family of voice detectors. */
export interface VoiceDetectorRow extends Row {
  readonly kind: 'voice detector';
  readonly cost: SoundCost;
  load(context: LoadContext): Promise<Vad>;
}

/** A family of turn detectors. */
export interface TurnDetectorRow extends Row {
  readonly kind: 'turn detector';
  readonly cost: SoundCost;
  /** Whether it is there to be used where the settings name none. */
  isInstalled(settings: EngineSettings): boolean;
  load(context: LoadContext): Promise<TurnDetector>;
}

export type ModelRow = RecogniserRow | SynthesizerRow | VoiceDetectorRow | TurnDetectorRow;

export type ModelTable = readonly ModelRow[];

/**
 * The costs were measured on one core; those of the pretend models are the real ones'. A folder's own cost, by the size
 * of its graphs, goes before what stands here of its family.
 */
const RECOGNISER_COST: SoundCost = { perJobMs: 2, perSecondMs: 6.15 };
const SYNTHESIZER_COST: TextCost = { perJobMs: 3, perCharacterMs: 1 };
const VOICE_DETECTOR_COST: SoundCost = { perJobMs: 0.5, perSecondMs: 3.9 };
const TURN_DETECTOR_COST: SoundCost = { perJobMs: 36, perSecondMs: 0.7 };

/** Word times need an aligner in its folder. */
const QWEN_ABILITIES: RecogniserAbilities = {
  drafts: true,
  wordTimes: false,
  logprobs: true,
  confidence: false,
  languageGuess: true,
  hotWords: true,
  expectedWords: false,
  textDrafts: true,
  context: true,
  streams: false,
};

/** Of each kind, the model that is used unless the settings say otherwise comes first. */
export const MODEL_TABLE: ModelTable = [
  {
    kind: 'recogniser',
    name: 'moonshine-tiny',
    family: null,
    languages: ['en'],
    abilities: {
      drafts: true,
      wordTimes: true,
      logprobs: true,
      confidence: true,
      languageGuess: false,
      hotWords: true,
      expectedWords: true,
      textDrafts: false,
      context: false,
      streams: false,
    },
    cost: RECOGNISER_COST,
    licence: 'MIT',
    files: Object.values(MOONSHINE_FILES),
    runsOn: ['cpu', 'cuda'],
    load: async ({ settings, device, progress }) =>
      (await import('./moonshine.ts')).loadMoonshine({
        threads: settings.threads,
        device,
        graphs: settings.modelGraphs,
        cacheDir: settings.modelCacheDir,
        runTokens: settings.decodeRunTokens,
        progress,
      }),
  },
  {
    kind: 'recogniser',
    name: 'parakeet-tdt',
    family: { name: 'parakeet-tdt', isLaidOut: (files) => findParakeetLayout(files) !== null },
    languages: ['en'],
    abilities: {
      drafts: false,
      wordTimes: true,
      logprobs: true,
      confidence: false,
      languageGuess: false,
      hotWords: true,
      expectedWords: false,
      textDrafts: false,
      context: false,
      streams: false,
    },
    cost: { perJobMs: 12, perSecondMs: 40 },
    licence: null,
    files: [],
    runsOn: ['cpu'],
    load: async ({ settings, folder }) =>
      (await import('./parakeet/parakeet.ts')).loadParakeet({
        folder,
        threads: settings.threads,
        graphs: settings.modelGraphs,
      }),
  },
  {
    kind: 'recogniser',
    name: 'tone',
    family: null,
    languages: ['en'],
    abilities: {
      drafts: false,
      wordTimes: false,
      logprobs: false,
      confidence: false,
      languageGuess: false,
      hotWords: false,
      expectedWords: false,
      textDrafts: false,
      context: false,
      streams: false,
    },
    cost: RECOGNISER_COST,
    licence: null,
    files: [],
    runsOn: ['cpu'],
    load: async () => ({ asr: (await import('./tone.ts')).toneAsr, warning: null }),
  },
  {
    kind: 'recogniser',
    name: 'moonshine-streaming',
    family: { name: 'moonshine-streaming', isLaidOut: isStreamingLayout },
    languages: ['en'],
    abilities: {
      drafts: true,
      wordTimes: false,
      logprobs: true,
      confidence: false,
      languageGuess: false,
      hotWords: true,
      expectedWords: false,
      textDrafts: true,
      context: false,
      streams: true,
    },
    cost: { perJobMs: 6, perSecondMs: 12 },
    licence: null,
    files: [],
    runsOn: ['cpu'],
    load: async ({ folder, device, settings, progress }) =>
      (await import('./moonshine-streaming/load.ts')).loadMoonshineStreaming(folder ?? '', {
        device,
        threads: settings.threads,
        graphs: settings.modelGraphs,
        cacheDir: settings.modelCacheDir,
        progress,
      }),
  },
  {
    kind: 'recogniser',
    name: 'qwen3-asr',
    family: { name: 'qwen3-asr', isLaidOut: (files) => findQwenFiles(files).missing.length === 0 },
    languages: QWEN_LANGUAGES,
    abilities: QWEN_ABILITIES,
    cost: { perJobMs: 60, perSecondMs: 200 },
    licence: null,
    files: [],
    runsOn: ['cpu', 'cuda'],
    load: async ({ folder, device, settings, progress }) => {
      const { loadQwen3Asr } = await import('./qwen3-asr/load.ts');
      const { threads, decodeRunTokens: runTokens, modelGraphs: graphs, modelCacheDir: cacheDir } = settings;
      const options = { device, threads, runTokens, graphs, cacheDir, progress };
      const { wordTimes, ...loaded } = await loadQwen3Asr(folder ?? '', options);
      return { ...loaded, abilities: { ...QWEN_ABILITIES, wordTimes } };
    },
  },
  {
    kind: 'recogniser',
    name: 'moonshine',
    family: { name: 'moonshine', isLaidOut: (files) => findMoonshineFiles(files).missing.length === 0 },
    languages: ['en'],
    abilities: {
      drafts: true,
      wordTimes: false,
      logprobs: true,
      confidence: false,
      languageGuess: false,
      hotWords: true,
      expectedWords: false,
      textDrafts: false,
      context: false,
      streams: false,
    },
    // Moonshine base, whose published graphs take some four times as long as those of tiny that we rewrite.
    cost: { perJobMs: 6, perSecondMs: 25 },
    licence: null,
    files: [],
    runsOn: ['cpu', 'cuda'],
    load: async ({ folder, device, settings }) =>
      (await import('./moonshine-folder.ts')).loadMoonshineFolder(folder ?? '', { device, threads: settings.threads }),
  },
  {
    kind: 'recogniser',
    name: 'whisper',
    family: { name: 'whisper', isLaidOut: (files) => findWhisperFiles(files).missing.length === 0 },
    languages: ['en'],
    abilities: {
      drafts: true,
      wordTimes: true,
      logprobs: true,
      confidence: false,
      languageGuess: true,
      hotWords: true,
      expectedWords: false,
      textDrafts: true,
      context: false,
      streams: false,
    },
    cost: { perJobMs: 17, perSecondMs: 25 },
    licence: null,
    files: [],
    runsOn: ['cpu', 'cuda'],
    load: async ({ folder, device, settings }) =>
      (await import('./whisper/load.ts')).loadWhisper(folder ?? '', {
        device,
        threads: settings.threads,
        graphs: settings.modelGraphs,
      }),
  },
  {
    kind: 'voice detector',
    name: 'silero',
    cost: VOICE_DETECTOR_COST,
    files: [SILERO_FILE],
    load: async ({ settings }) => (await import('./silero.ts')).loadSilero({ threads: settings.threads }),
  },
  {
    kind: 'voice detector',
    name: 'tone',
    cost: VOICE_DETECTOR_COST,
    files: [],
    load: async () => (await import('./tone.ts')).toneVad,
  },
  {
    kind: 'synthesizer',
    name: 'installed',
    cost: SYNTHESIZER_COST,
    files: [FLITE_FILE],
    load: async (context) => (await import('./installed-voices.ts')).loadInstalledVoices(context),
  },
  {
    kind: 'synthesizer',
    name: 'flite',
    cost: SYNTHESIZER_COST,
    files: [FLITE_FILE],
    load: async () => ({ tts: await (await import('./flite-and-espeak.ts')).loadFliteAndEspeak(), warning: null }),
  },
  {
    kind: 'synthesizer',
    name: 'tone',
    cost: SYNTHESIZER_COST,
    files: [],
    load: async () => ({ tts: (await import('./tone-tts.ts')).toneTts, warning: null }),
  },
  {
    kind: 'turn detector',
    name: 'smart-turn',
    cost: TURN_DETECTOR_COST,
    files: [],
    isInstalled: ({ modelsDir }) => findInstalled(modelsDir, 'smart-turn').length > 0,
    load: async ({ settings }) => (await import('./smart-turn.ts')).loadSmartTurn(settings),
  },
  {
    kind: 'turn detector',
    name: 'tone',
    cost: TURN_DETECTOR_COST,
    files: [],
    isInstalled: () => false,
    load: async () => (await import('./tone.ts')).toneTurnDetector,
  },
];

/** The row of a model; undefined where there is none. */
export function findModel<K extends ModelRow['kind']>(
  table: ModelTable,
  kind: K,
  name: unknown,
): Extract<ModelRow, { kind: K }> | undefined {
  return modelsOf(table, kind).find((row) => row.name === name);
}

/** The rows of a kind, in order. */
export function modelsOf<K extends ModelRow['kind']>(table: ModelTable, kind: K): Extract<ModelRow, { kind: K }>[] {
  return table.filter((row): row is Extract<ModelRow, { kind: K }> => row.kind === kind);
}
