import { ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { AS_LOUD, type WindowLevel } from '../audio/level-gate.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { msToSamples } from '../foundation/units.ts';

export type EndpointerSettings = Pick<
  Settings,
  | 'VAD_START_THRESHOLD'
  | 'VAD_STOP_THRESHOLD'
  | 'MIN_SPEECH_MS'
  | 'PRE_ROLL_MS'
  | 'POST_ROLL_MS'
  | 'EAGER_MS'
  | 'ENDPOINT_MS'
>;

/**
 * Where speech lies so far, in samples since the track began: the last speech ends at `speechTo`; with the post-roll
 * it ends at `to`.
 */
export interface Stretch {
  readonly speechTo: number;
  readonly to: number;
}

/** What one window changed. Sample numbers count from the start of the track at 16 kHz. */
export type EndpointDecision =
  /** Speech began at `speechFrom`; with the pre-roll the utterance begins at `from`. */
  | { readonly kind: 'started'; readonly from: number; readonly speechFrom: number }
  /** Silence reached EAGER_MS: the utterance will end like this unless speech resumes. */
  | ({ readonly kind: 'paused' } & Stretch)
  /** Speech went on after `paused`, which may come again. */
  | { readonly kind: 'resumed' }
  /** Silence reached ENDPOINT_MS. */
  | ({ readonly kind: 'ended' } & Stretch);

/** Windows whose probability is remembered: the last 8 s. */
const REMEMBERED = 256;
/**
 * Softer speech of this length is somebody else's; what is shorter is the end of a word. Where nobody else has spoken
 * it takes longer to be believed: with nobody behind the caller, 288 ms cost three words of 654, 480 ms two.
 */
const FAR_SAMPLES = msToSamples(288, ENGINE_RATE_HZ);
const FIRST_FAR_SAMPLES = msToSamples(640, ENGINE_RATE_HZ);
/** Speech may begin softly for so long. What was soft for longer before is somebody else's, but for the second. */
const ONSET_SAMPLES = msToSamples(480, ENGINE_RATE_HZ);
/** Words end so much softer than they are. */
const TAIL_SAMPLES = msToSamples(128, ENGINE_RATE_HZ);
const ATTACK_SAMPLES = msToSamples(96, ENGINE_RATE_HZ);

/**
 * Probabilities of speech in, one for each 32 ms window; beginnings, pauses and ends of utterances out. Hysteresis:
 * speech begins with windows at VAD_START_THRESHOLD for MIN_SPEECH_MS without a break, and lasts while windows reach
 * VAD_STOP_THRESHOLD. A pause is not declared before the post-roll is there, so that `paused` and `ended` name the same
 * stretch of audio. Speech far below the speaker's level counts as silence, at whose beginning he has stopped.
 */
export class Endpointer {
  readonly #settings: EndpointerSettings;
  /** Probability of window n at n % REMEMBERED. */
  readonly #probabilities = new Float32Array(REMEMBERED);
  readonly #minSpeech: number;
  readonly #preRoll: number;
  readonly #pause: number;
  readonly #onset: number;
  #postRoll: number;
  #endpoint: number;
  /** Takes the place of ENDPOINT_MS when nobody speaks. */
  #nextEndpointMs: number | null = null;
  #detectedTo = 0;
  #speaking = false;
  #paused = false;
  /** Start of the unbroken run of windows above the threshold, before speech has begun. */
  #runFrom: number | null = null;
  /** The run so far is far below the level of whoever is awaited. */
  #isRunFar = false;
  #speechTo = 0;
  /** The end of the last speech that was as loud as the speaker. */
  #loudTo = 0;
  /** End of the previous utterance: no pre-roll reaches behind it. */
  #floor = 0;

  constructor(settings: EndpointerSettings) {
    const samples = (ms: number): number => msToSamples(ms, ENGINE_RATE_HZ);
    this.#settings = settings;
    this.#minSpeech = samples(settings.MIN_SPEECH_MS);
    this.#preRoll = samples(settings.PRE_ROLL_MS);
    this.#postRoll = samples(Math.min(settings.POST_ROLL_MS, settings.ENDPOINT_MS));
    this.#pause = samples(Math.max(settings.EAGER_MS, settings.POST_ROLL_MS));
    this.#endpoint = samples(settings.ENDPOINT_MS);
    this.#onset = Math.max(ONSET_SAMPLES, this.#minSpeech);
  }

  /** Samples examined so far. */
  get detectedTo(): number {
    return this.#detectedTo;
  }

  /** The end of the last window with speech in it. */
  get speechTo(): number {
    return this.#speechTo;
  }

  /** Nobody has spoken since `speechTo` up to here; what comes behind may be the beginning of speech. */
  get silentTo(): number {
    return this.#isRunFar ? this.#detectedTo : (this.#runFrom ?? this.#detectedTo);
  }

  /** Whether an utterance is running. */
  get isSpeaking(): boolean {
    return this.#speaking;
  }

  /** The earliest sample that an utterance not yet begun may begin with. */
  get earliestStart(): number {
    const runFrom = this.#runFrom ?? this.#detectedTo;
    return Math.max(this.#floor, Math.max(runFrom, this.#detectedTo - this.#onset) - this.#preRoll);
  }

  /** The probability of the window that holds sample number `sample`, one of the last 8 s. */
  probabilityAt(sample: number): number {
    return this.#probabilities[Math.floor(sample / VAD_WINDOW_SAMPLES) % REMEMBERED] ?? 0;
  }

  /** Where the first window begins whose probability is remembered. */
  get rememberedFrom(): number {
    return Math.max(this.#detectedTo - REMEMBERED * VAD_WINDOW_SAMPLES, 0);
  }

  /** Takes the next window's probability (0–1), and its level beside that of whoever speaks or is awaited. */
  vad(probability: number, level: WindowLevel = AS_LOUD): EndpointDecision | null {
    this.#probabilities[(this.#detectedTo / VAD_WINDOW_SAMPLES) % REMEMBERED] = probability;
    this.#detectedTo += VAD_WINDOW_SAMPLES;
    return this.#speaking ? this.#onSpeaking(probability, level) : this.#onSilent(probability, level);
  }

  /** From the next utterance on this much silence ends one, in ms. */
  setEndpoint(endpointMs: number): void {
    this.#nextEndpointMs = endpointMs;
    if (!this.#speaking) this.#takeEndpoint();
  }

  /** The running utterance is cut in two at sample number `at`; speech goes on. */
  cut(at: number): void {
    this.#floor = at;
  }

  /** The audio up to sample number `to`, where a window begins, is never examined. No utterance may be running. */
  skipTo(to: number): void {
    this.#detectedTo = to;
    this.#endRun();
    this.#floor = to;
  }

  /**
   * Ends the running utterance now, whatever the silence so far; `received` is how much audio there is for the
   * post-roll.
   */
  close(received: number): Stretch | null {
    return this.#speaking ? this.#end(received) : null;
  }

  #onSilent(probability: number, { isFar }: WindowLevel): EndpointDecision | null {
    if (probability < this.#settings.VAD_START_THRESHOLD) {
      this.#endRun();
      return null;
    }
    this.#runFrom ??= this.#detectedTo - VAD_WINDOW_SAMPLES;
    this.#isRunFar = isFar;
    if (isFar || this.#detectedTo - this.#runFrom < this.#minSpeech) return null;
    if (this.#detectedTo - this.#runFrom > this.#onset) this.#runFrom = this.#detectedTo - ATTACK_SAMPLES;
    const decision = { kind: 'started', from: this.earliestStart, speechFrom: this.#runFrom } as const;
    this.#speaking = true;
    this.#speechTo = this.#detectedTo;
    this.#loudTo = this.#detectedTo;
    this.#endRun();
    return decision;
  }

  #onSpeaking(probability: number, { isFar, isSoft, isAmidOthers }: WindowLevel): EndpointDecision | null {
    if (probability >= this.#settings.VAD_STOP_THRESHOLD) {
      if (!isFar && !isSoft) this.#loudTo = this.#detectedTo;
      const patience = isAmidOthers ? FAR_SAMPLES : FIRST_FAR_SAMPLES;
      if (!isFar || this.#detectedTo - this.#loudTo < patience) return this.#speechGoesOn();
      this.#speechTo = Math.min(this.#speechTo, Math.max(this.#loudTo + TAIL_SAMPLES, this.#floor));
    }
    const silence = this.#detectedTo - this.#speechTo;
    if (silence >= this.#endpoint) return { kind: 'ended', ...this.#end(this.#detectedTo) };
    if (this.#paused || silence < this.#pause) return null;
    this.#paused = true;
    return { kind: 'paused', ...this.#stretch(this.#detectedTo) };
  }

  #endRun(): void {
    this.#runFrom = null;
    this.#isRunFar = false;
  }

  #speechGoesOn(): EndpointDecision | null {
    const resumed = this.#paused;
    this.#paused = false;
    this.#speechTo = this.#detectedTo;
    return resumed ? { kind: 'resumed' } : null;
  }

  #takeEndpoint(): void {
    if (this.#nextEndpointMs === null) return;
    this.#endpoint = msToSamples(this.#nextEndpointMs, ENGINE_RATE_HZ);
    this.#postRoll = msToSamples(Math.min(this.#settings.POST_ROLL_MS, this.#nextEndpointMs), ENGINE_RATE_HZ);
    this.#nextEndpointMs = null;
  }

  #stretch(received: number): Stretch {
    const speechTo = Math.min(this.#speechTo, received);
    return { speechTo, to: Math.min(speechTo + this.#postRoll, received) };
  }

  #end(received: number): Stretch {
    const stretch = this.#stretch(received);
    this.#speaking = false;
    this.#paused = false;
    this.#floor = Math.max(this.#floor, stretch.to);
    this.#takeEndpoint();
    return stretch;
  }
}
