/**
 * The engine as the rest of the gateway sees it. Only this file is imported from outside engine-client: folders that
 * need text or voice detection take an `Engine` and never learn how many processes there are.
 */
import type {
  DetectJob,
  JobCost,
  JobErrorCode,
  RecogniserRole,
  SpeakJob,
  SpokenWord,
  TranscribeJob,
  VoiceInfo,
} from '../../engine/contract.ts';
import type { ExpectedReading } from '../../engine/expected-reading.ts';
import type { RecogniserAbilities } from '../../engine/recogniser-abilities.ts';

/** One stretch of 16 kHz mono speech to turn into text. */
export interface TranscribeRequest {
  readonly samples: Int16Array;
  readonly urgency: TranscribeJob['urgency'];
  /** Wanted within this many ms; partials that cannot be begun by then fail with `stale`. */
  readonly dueInMs: number;
  /** Which recogniser is to read it, where there are two: the one of partials unless said otherwise. */
  readonly use?: RecogniserRole;
  /**
   * With `use: 'final'`: after so many ms without an answer the other recogniser reads it as well, or at once where it
   * is known that it would be late. Absent = however long it takes.
   */
  readonly lateInMs?: number;
  /** Tokens of the previous hypothesis; empty = none. */
  readonly draft: readonly number[];
  /** Which of two recognisers the draft is of: the other one knows no such tokens. Absent where there is one. */
  readonly draftBy?: RecogniserRole;
  /** The text of the draft, for the other one. */
  readonly draftText?: string;
  /** The same number in requests whose samples begin alike: see {@link TranscribeJob.stream}. */
  readonly stream?: number;
  /** Whether the speaker goes on, and a request with the same samples and more follows. */
  readonly goesOn?: boolean;
  /** Whether it should be found out when each word was said; takes about an eighth longer. */
  readonly timed?: boolean;
  /** Whether {@link Transcript.pieces} are wanted. */
  readonly spelled?: boolean;
  /** What is spoken, one of {@link Engine.languages}; absent = the recogniser finds out, or assumes. */
  readonly language?: string;
  /** Names and phrases that are likely to be said; passed over by a recogniser that has no use for them. */
  readonly hotWords?: readonly string[];
  /** Words and phrases of which {@link Transcript.expectedReadings} are wanted, at most EXPECTED_WORDS_MAX. */
  readonly expectedWords?: readonly string[];
  /** Running text about the speech, at most CONTEXT_MAX_CHARS; passed over by a recogniser that reads none. */
  readonly context?: string;
  /** Whose work it is: batch jobs of different tenants take turns. All that name none are one tenant. */
  readonly tenant?: string;
  /** Aborting it fails the promise with `cancelled` and frees the engine between two model runs. */
  readonly signal?: AbortSignal;
}

/**
 * What was recognised in one stretch of speech. The wait in its cost, as in all answers to requests, begins with the
 * request: the queues of gateway and engine together.
 */
export interface Transcript {
  readonly text: string;
  readonly tokens: readonly number[];
  /** The natural logarithm of each token's probability; null when the recogniser cannot tell. */
  readonly logprobs: Float32Array | null;
  /** False: confidence was fitted to another recogniser's probabilities, and nothing can be said from these. */
  readonly isCalibrated?: boolean;
  /** What each token writes, in UTF-8, when it was asked for and the recogniser knows. */
  readonly pieces?: readonly Uint8Array[];
  readonly looped: boolean;
  /** In order, when they were asked for and the recogniser can tell. */
  readonly words?: readonly SpokenWord[];
  /** BCP-47 of what was said; absent when the request named it, or when the recogniser cannot tell. */
  readonly language?: string;
  /** The best first; absent when they were not asked for, or when the recogniser cannot read so. */
  readonly expectedReadings?: readonly ExpectedReading[];
  /** Which of two recognisers read it; absent where there is one. */
  readonly by?: RecogniserRole;
  /**
   * Where the other one than was wanted read it: what the wanted one makes of it, some seconds later at most; null when
   * nothing comes of it. Absent when it was not asked.
   */
  readonly late?: Promise<Transcript | null>;
  readonly cost: JobCost;
}

/**
 * Consecutive windows of one track (a whole number of 512 samples at 16 kHz) and the state that came with its previous
 * ones.
 */
export interface DetectRequest {
  readonly samples: Int16Array;
  readonly state: Float32Array | null;
  /** `batch`: a file's, behind all live work. A live track's unless said otherwise. */
  readonly urgency?: DetectJob['urgency'];
  /** As in {@link TranscribeRequest}. */
  readonly tenant?: string;
  readonly signal?: AbortSignal;
}

/** What a {@link DetectRequest} is answered with. */
export interface Detection {
  /** One probability of speech (0–1) per window. */
  readonly probabilities: Float32Array;
  readonly state: Float32Array;
}

/** One stretch of 16 kHz mono speech behind which there is silence: is the speaker's turn over? */
export interface TurnRequest {
  /** The turn so far, or its last TURN_MAX_SAMPLES, with 150–200 ms of silence at its end. */
  readonly samples: Int16Array;
  /** Wanted within this many ms; what cannot be begun by then fails with `stale`. */
  readonly dueInMs: number;
  /** Aborting it fails the promise with `cancelled`. */
  readonly signal?: AbortSignal;
}

/** What a {@link TurnRequest} is answered with. */
export interface TurnDecision {
  /** That the turn is over, 0–1. */
  readonly probability: number;
  readonly cost: JobCost;
}

/** One sentence or clause to be said. */
export interface SpeakRequest {
  /** As it is to be read, at most SPEAK_TEXT_MAX_CHARS. */
  readonly text: string;
  /** One of {@link Engine.voices}; another one fails with `bad_input`. */
  readonly voice: string;
  /** 1 = the voice's own, from SPEED_MIN to SPEED_MAX. */
  readonly speed: number;
  readonly urgency: SpeakJob['urgency'];
  /** Wanted within this many ms. */
  readonly dueInMs: number;
  /** Aborting it fails the promise with `cancelled`. */
  readonly signal?: AbortSignal;
  /** Aborting it makes a `batch` job as urgent as `speak`, wherever it is by then: somebody waits for it now. */
  readonly hurry?: AbortSignal;
  /**
   * Is given the beginning of the sound while the rest is made: stretches in order, as many as there are. What comes
   * behind them is the result. The death of an engine in between is not noticed. It must not throw.
   */
  readonly onSound?: (samples: Int16Array, rateHz: number) => void;
}

/** A sentence as sound. */
export interface Speech {
  /** All of it, or what comes behind the stretches that {@link SpeakRequest.onSound} was given. May be empty. */
  readonly samples: Int16Array;
  readonly rateHz: number;
  readonly cost: JobCost;
  /** Another voice than the one that was wanted spoke, because that one could not: nobody should keep it. */
  readonly isStandIn?: true;
}

/**
 * `unavailable`: no engine could take the job (stopped for good, draining, or it was lost too often); the rest as in
 * the contract.
 */
export type EngineErrorCode = JobErrorCode | 'unavailable';

/** The one way in which an engine promise fails. */
export class EngineError extends Error {
  readonly code: EngineErrorCode;

  constructor(code: EngineErrorCode, message: string) {
    super(message);
    this.name = 'EngineError';
    this.code = code;
  }
}

/** Speech to text, text to speech, and whether there is speech at all, whichever process does it. */
export interface Engine {
  /**
   * Resolves with the text; fails with {@link EngineError}. Survives the death of an engine process: the job is sent
   * again.
   */
  transcribe(request: TranscribeRequest): Promise<Transcript>;
  /** Resolves with the probabilities; requests of all tracks made within one tick go through the model in one run. */
  detect(request: DetectRequest): Promise<Detection>;
  /**
   * Resolves with the sound; fails with {@link EngineError}. Survives the death of an engine process as {@link
   * transcribe} does.
   */
  speak(request: SpeakRequest): Promise<Speech>;
  /**
   * Resolves with the probability that the turn is over; fails with {@link EngineError}, `bad_input` where there is no
   * turn detector.
   */
  turn(request: TurnRequest): Promise<TurnDecision>;
  /** Voices to speak with; empty until an engine has been ready. */
  readonly voices: readonly VoiceInfo[];
  /**
   * What the recogniser understands, in BCP-47, first the one that is assumed; empty until an engine has been ready.
   */
  readonly languages: readonly string[];
  /** What the recogniser can do; null until an engine has been ready. */
  readonly abilities: RecogniserAbilities | null;
  /**
   * Transcriptions of recordings that one engine reads at the same time, in one model run; absent or 1 = one after the
   * other, as on a CPU.
   */
  readonly batchMax?: number;
  /** Names and revisions of what makes speech; null until an engine has been ready. */
  readonly ttsModel: string | null;
  /** The turn detector; null where there is none, and until an engine has been ready. */
  readonly turnModel: string | null;
  /**
   * Starts the engine processes if they are stopped, and resolves when one is ready: then voices, languages and
   * abilities are known.
   * @throws EngineError `unavailable`
   */
  start(): Promise<void>;
  /**
   * Starts the engine processes if they are stopped, so that they are warm when the first words come. To be called at
   * the first sign of a call, a session or a recording.
   */
  wake(): void;
  /** Share of engine time in use over the last seconds, 0–1: callers stretch their partial cadence by it. */
  readonly load: number;
  /** The same of the recogniser that reads finals, where that is another one. */
  readonly finalLoad: number;
  /**
   * The same share as `load` for work that is never dropped (all but partials): when it nears 1, finals come late, so
   * new calls are refused by it.
   */
  readonly firmLoad: number;
  /** No engine can take work yet: one is being started. Absent = false. */
  readonly isLoading?: boolean;
  /**
   * Share of what other servers can read that live speech asks of them, 0 to 1 and above; absent or null = the engine
   * processes read it.
   */
  readonly remoteUse?: number | null;
}
