/**
 * One job on its way through the engine client: what is asked, until when, how often it was sent, and the promise of
 * its answer.
 */
import {
  type DetectedMessage,
  type DetectJob,
  ENGINE_RATE_HZ,
  type EngineJob,
  type SpeakJob,
  type SpokenMessage,
  type TranscribedMessage,
  type TranscribeJob,
  type TurnedMessage,
  type TurnJob,
  type Urgency,
} from '../../engine/contract.ts';
import type { JobCosts, SoundCost } from '../../engine/job-costs.ts';
import type { Timer } from '../foundation/clock.ts';
import { EngineError, type EngineErrorCode } from './engine.ts';
import type { Owned } from './fair-queue.ts';

/** A job's deliveries in all. What brings down three engine processes would bring down the fourth. */
const DELIVERIES_MAX = 3;

/** What a job asks for. */
export type JobWork =
  | Omit<TranscribeJob, 'id' | 'dueInMs'>
  | Omit<DetectJob, 'id' | 'dueInMs'>
  | Omit<SpeakJob, 'id' | 'dueInMs'>
  | Omit<TurnJob, 'id' | 'dueInMs'>;

export type JobReply = TranscribedMessage | DetectedMessage | SpokenMessage | TurnedMessage;

/** @throws EngineError when `reply` is not of `kind` */
export function expectKind<K extends JobReply['kind']>(reply: JobReply, kind: K): Extract<JobReply, { kind: K }> {
  if (reply.kind === kind) return reply as Extract<JobReply, { kind: K }>;
  throw new EngineError('model_failed', `the engine answered ${reply.kind} where ${kind} was expected`);
}

/** Is given the sound of a job as it is made, in order. It must not throw. */
export type SoundListener = (samples: Int16Array, rateHz: number) => void;

/** Rough cost of a job on so many samples, in ms of model runs. */
export function estimateReading(samples: number, cost: SoundCost | null): number {
  return cost === null ? 0 : cost.perJobMs + (samples / ENGINE_RATE_HZ) * cost.perSecondMs;
}

function estimateSpeech({ text, speed }: Pick<SpeakJob, 'text' | 'speed'>, cost: JobCosts['speak']): number {
  return cost === null ? 0 : cost.perJobMs + (text.length / speed) * cost.perCharacterMs;
}

/** Settled once; what comes afterwards is ignored. */
export class Job implements Owned {
  readonly id: number;
  readonly work: JobWork;
  /** Whose job it is, where batch jobs take turns. */
  readonly tenant: string;
  readonly submittedAtMs: number;
  readonly dueAtMs: number;
  readonly #onSound: SoundListener | null;
  /** Samples of its sound that were passed on. */
  #knownSamples = 0;
  #isHurried = false;
  /** Resolves with the engine's answer; fails with {@link EngineError}. */
  readonly reply: Promise<JobReply>;
  #resolve: (reply: JobReply) => void = () => undefined;
  #reject: (error: EngineError) => void = () => undefined;
  #settled = false;
  #deliveries = 0;
  #deliveredAtMs = 0;
  #expiry: Timer | null = null;

  constructor(options: {
    id: number;
    work: JobWork;
    nowMs: number;
    dueInMs: number;
    tenant: string;
    onSound?: SoundListener | undefined;
  }) {
    this.id = options.id;
    this.work = options.work;
    this.tenant = options.tenant;
    this.#onSound = options.onSound ?? null;
    this.submittedAtMs = options.nowMs;
    this.dueAtMs = options.nowMs + options.dueInMs;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get urgency(): Urgency {
    return this.#isHurried ? 'speak' : this.work.urgency;
  }

  /** Whether it is more urgent when somebody waits for it: it is a batch job that speaks. */
  get canHurry(): boolean {
    return this.work.kind === 'speak' && this.urgency === 'batch';
  }

  /** Somebody waits for it now. To be called where it {@link canHurry}. */
  hurry(): void {
    this.#isHurried = true;
  }

  /** The number that it shares with jobs whose samples begin alike; null = none. */
  get stream(): number | null {
    return this.work.kind === 'transcribe' ? (this.work.stream ?? null) : null;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Whether an engine was given it at least once. */
  get sent(): boolean {
    return this.#deliveries > 0;
  }

  /** Whether engines were given it more than once. */
  get resent(): boolean {
    return this.#deliveries > 1;
  }

  /** Whether it has been lost with its engine too often to be sent once more. */
  get exhausted(): boolean {
    return this.#deliveries >= DELIVERIES_MAX;
  }

  /**
   * Whether the next delivery is the last: then the job has an engine to itself, so that a poison job takes no innocent
   * one with it.
   */
  get mustTravelAlone(): boolean {
    return this.#deliveries === DELIVERIES_MAX - 1;
  }

  /** Ms from submission to the last delivery. */
  get queuedMs(): number {
    return this.#deliveredAtMs - this.submittedAtMs;
  }

  /** Rough cost in ms of model runs, by what an engine said of its models. */
  estimateMs(costs: JobCosts): number {
    const { work } = this;
    if (work.kind === 'speak') return estimateSpeech(work, costs.speak);
    const samples =
      work.kind === 'detect' ? work.tracks.reduce((sum, track) => sum + track.samples.length, 0) : work.samples.length;
    return estimateReading(samples, costs[work.kind]);
  }

  /** Counts a delivery and makes its message. */
  deliver(nowMs: number): EngineJob {
    this.#deliveries++;
    this.#deliveredAtMs = nowMs;
    this.#expiry?.cancel();
    const work =
      this.#isHurried && this.work.kind === 'speak' ? { ...this.work, urgency: 'speak' as const } : this.work;
    return { ...work, id: this.id, dueInMs: Math.max(this.dueAtMs - nowMs, 0) };
  }

  /** Hands over the timer that gives the job up while it waits; the job cancels it. */
  expireBy(timer: Timer): void {
    this.#expiry = timer;
  }

  /**
   * An engine has made `samples` of its sound, which begin at sample number `from`. What another engine has made
   * before is not passed on again.
   */
  tell(samples: Int16Array, rateHz: number, from: number): void {
    const news = this.#unknown(samples, from);
    if (this.#settled || news.length === 0) return;
    this.#knownSamples += news.length;
    this.#onSound?.(news, rateHz);
  }

  /** The end of its sound, which begins at sample number `from`, without what was passed on. */
  withoutKnown(reply: SpokenMessage, from: number): SpokenMessage {
    return { ...reply, samples: this.#unknown(reply.samples, from) };
  }

  #unknown(samples: Int16Array, from: number): Int16Array {
    return samples.subarray(Math.max(this.#knownSamples - from, 0));
  }

  resolve(reply: JobReply): void {
    if (this.#settle()) this.#resolve(reply);
  }

  fail(code: EngineErrorCode, message: string): void {
    if (this.#settle()) this.#reject(new EngineError(code, message));
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#expiry?.cancel();
    return true;
  }
}
