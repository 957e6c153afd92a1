/** What a model is to the rest of the engine. A model keeps nothing between jobs. */
import type { DetectedMessage, DetectTrack, SpeakJob, SpokenMessage, SpokenWord, VoiceInfo } from '../contract.ts';
import type { ExpectedReading } from '../expected-reading.ts';
import type { Steps } from '../scheduler.ts';

/** What a recogniser made of one stretch of speech. */
export interface Recognition {
  readonly text: string;
  /** The hypothesis, to be given as `draft` with a longer stretch of the same speech; empty after a loop. */
  readonly tokens: readonly number[];
  /**
   * The natural logarithm of the probability of each token that writes some of the text; null when the model does not
   * say.
   */
  readonly logprobs: Float32Array | null;
  /** What each of these tokens writes, in UTF-8, if that was asked for. */
  readonly pieces?: readonly Uint8Array[];
  /** Whether a repetition loop was collapsed. */
  readonly looped: boolean;
  /** When its words were said, if that was asked for and can be told. */
  readonly words?: readonly SpokenWord[];
  /** BCP-47 of what was said, one of the recogniser's languages; absent when it was told, or cannot tell. */
  readonly language?: string;
  /** The best first, if they were asked for and it can read so. */
  readonly expectedReadings?: readonly ExpectedReading[];
}

/** What is wanted of a reading beside its text, and what is known of the speech. */
export interface ReadingOptions {
  /** {@link Recognition.words}; takes a little time. */
  readonly timed?: boolean;
  /** {@link Recognition.pieces}; takes a little time. */
  readonly spelled?: boolean;
  /** BCP-47 of what is spoken, one of the recogniser's languages; absent = it finds out, or assumes its first. */
  readonly language?: string;
  /** Names and phrases that are likely to be said. A bias, and only where the abilities say so. */
  readonly hotWords?: readonly string[];
  /** Words and phrases of which {@link Recognition.expectedReadings} are wanted. */
  readonly expectedWords?: readonly string[];
  /** Anything else that helps to understand the speech; used where the abilities say so. */
  readonly context?: string;
  /** Whether a reading of the same speech and more follows: what was read before may then stay as it is. */
  readonly goesOn?: boolean;
  /** What another recogniser made of the same speech; verified where the abilities say so, otherwise ignored. */
  readonly draftText?: string;
  /**
   * The same number with samples that begin alike: what was computed of their beginning may be kept and used again.
   * Without it, or when nothing was kept, the result is the same.
   */
  readonly stream?: number;
}

/** A speech recogniser. */
export interface Asr {
  readonly name: string;
  /** Where it runs. */
  readonly provider: 'cpu' | 'cuda';
  /** Transcriptions that one of its runs can be made for, as in SharedRun; absent = 1. */
  readonly batchMax?: number;
  /** Tokens are below this. */
  readonly vocabularySize: number;
  /**
   * Recognises 16 kHz mono speech of any length, `draft` being the tokens of an earlier hypothesis. One step per model
   * run.
   */
  transcribe(samples: Int16Array, draft: readonly number[], options?: ReadingOptions): Steps<Recognition>;
  /** Makes every kind of model run that {@link transcribe} makes, whatever the audio says. */
  warmUp(samples: Int16Array): Promise<void>;
}

/** One track's probabilities of speech, one per window, and its state after them. */
export type DetectedTrack = DetectedMessage['tracks'][number];

/** A voice detector on windows of `VAD_WINDOW_SAMPLES`. */
export interface Vad {
  readonly name: string;
  /** Floats of a track's state. */
  readonly stateLength: number;
  /** Examines the windows of many tracks, which may differ in number; window n of all tracks is one step. */
  detect(tracks: readonly DetectTrack[]): Steps<DetectedTrack[]>;
}

/** A detector of the end of a speaker's turn. */
export interface TurnDetector {
  readonly name: string;
  /** The probability (0–1) that the turn is over: of 16 kHz speech, at most 8 s, with the silence behind it. */
  decide(samples: Int16Array): Steps<number>;
}

/** The text to be spoken, its voice and its speed. */
export type Line = Pick<SpeakJob, 'text' | 'voice' | 'speed'>;

/** 16-bit mono samples and their rate. */
export type Sound = Pick<SpokenMessage, 'samples' | 'rateHz'>;

/** A speech synthesizer. The same line always gives the same samples. */
export interface Tts {
  /** With the revision: sound of another one is other sound. */
  readonly name: string;
  /** In the order in which they are to be shown; at least one. */
  readonly voices: readonly VoiceInfo[];
  /**
   * Synthesizes a line in one of {@link voices}; without samples when nothing in it can be spoken. `tell` is given
   * stretches of the sound as they are made, in order; the result is what comes behind them. Where a synthesizer has
   * nothing to tell early, the result is all of it.
   */
  speak(line: Line, tell: (sound: Sound) => void): Steps<Sound>;
}
