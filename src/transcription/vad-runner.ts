import { VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { type Detection, type Engine, EngineError } from '../engine-client/engine.ts';
import { pause } from '../foundation/abortable-pause.ts';
import type { Clock } from '../foundation/clock.ts';
import { newRetryBackoff } from './retry-backoff.ts';
import type { SampleRing } from './sample-ring.ts';

/** Most windows of one request: about a second of audio, when detection is behind. */
const WINDOWS_MAX = 32;
/** Failures in a row after which an ended track's last audio is given up: about 17 s. */
const GIVE_UP_FAILURES = 12;
/** From this failure of the model on (not of the engine), it is asked with a fresh state. */
const FRESH_STATE_FAILURES = 3;

/** What voice detection of a track needs. */
export interface VadRunnerOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly audio: SampleRing;
  /** Aborts when the transcriber is closed. */
  readonly signal: AbortSignal;
  /** Whether more audio may be examined now; call {@link VadRunner.run} when that changes to true. */
  mayGoOn(): boolean;
  /** Takes the probabilities of the next windows in order. */
  onDetected(probabilities: Float32Array): void;
  /** The engine stayed away for too long: the audio from sample number `from` to `to` is not examined. */
  onGivenUp(from: number, to: number): void;
  /** Every whole window there is has been examined; after {@link VadRunner.finish}, everything. */
  onCaughtUp(): void;
}

/**
 * Runs the voice detector over a track: one request at a time, its state carried along. A request that fails is made
 * again, with back-off, until the engine is back; the audio waits in the ring.
 */
export class VadRunner {
  readonly #options: VadRunnerOptions;
  #state: Float32Array | null = null;
  #detectedTo = 0;
  /** How often audio was left out: what was asked before that is of no use. */
  #skips = 0;
  #isFailing = false;
  #running = false;
  #finishing = false;

  constructor(options: VadRunnerOptions) {
    this.#options = options;
  }

  /** Samples examined so far. */
  get detectedTo(): number {
    return this.#detectedTo;
  }

  /** Whether the engine failed at what is examined now. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Leaves out the audio before sample number `to`, where a window begins; call {@link run} then. */
  skipTo(to: number): void {
    this.#detectedTo = to;
    this.#state = null;
    this.#skips++;
  }

  /** Examines what there is, unless it is doing so already. */
  run(): void {
    const { signal, mayGoOn, onCaughtUp } = this.#options;
    if (this.#running || signal.aborted || !mayGoOn()) return;
    const samples = this.#next();
    // Every other frame of a call completes no window: it must not cost a promise.
    if (samples === null) onCaughtUp();
    else void this.#vad(samples);
  }

  /** No more audio comes: also examines a last part shorter than a window, padded with silence. */
  finish(): void {
    this.#finishing = true;
    this.run();
  }

  async #vad(samples: Int16Array): Promise<void> {
    const { signal, onDetected } = this.#options;
    this.#running = true;
    const skips = this.#skips;
    const detection = await this.#detect(samples);
    if (signal.aborted) return;
    this.#isFailing = false;
    if (detection === null) this.#giveUp();
    else if (skips === this.#skips) {
      this.#detectedTo += samples.length;
      this.#state = detection.state;
      onDetected(detection.probabilities);
    }
    this.#running = false;
    this.run();
  }

  #giveUp(): void {
    const { audio, onGivenUp } = this.#options;
    const from = this.#detectedTo;
    this.#detectedTo = audio.end;
    onGivenUp(from, audio.end);
  }

  #next(): Int16Array | null {
    const { audio } = this.#options;
    const waiting = audio.end - this.#detectedTo;
    const windows = Math.min(Math.floor(waiting / VAD_WINDOW_SAMPLES), WINDOWS_MAX);
    if (windows > 0) return audio.slice(this.#detectedTo, this.#detectedTo + windows * VAD_WINDOW_SAMPLES);
    if (!this.#finishing || waiting <= 0) return null;
    const padded = new Int16Array(VAD_WINDOW_SAMPLES);
    padded.set(audio.slice(this.#detectedTo, audio.end));
    return padded;
  }

  /**
   * Resolves with null when it was given up: the transcriber is closed, or the track has ended and the engine stays
   * away.
   */
  async #detect(samples: Int16Array): Promise<Detection | null> {
    const { engine, clock, signal } = this.#options;
    const backoff = newRetryBackoff();
    let state = this.#state;
    for (let failures = 1; ; failures++) {
      try {
        return await engine.detect({ samples, state });
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        this.#isFailing = true;
        if (error.code === 'model_failed' && failures >= FRESH_STATE_FAILURES) state = null;
      }
      if (this.#finishing && failures >= GIVE_UP_FAILURES) return null;
      await pause(clock, backoff.next(0), signal);
      if (signal.aborted) return null;
    }
  }
}
