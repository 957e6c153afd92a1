/**
 * The gateway's side of the engine: takes jobs, hands them to the engine processes by urgency, and sees to it that each
 * one is settled.
 */
import {
  type DetectedMessage,
  type DetectTrack,
  type EngineSettings,
  type FailedMessage,
  isDroppable,
  type ReadyMessage,
  type TranscribeJob,
  type VoiceInfo,
} from '../../engine/contract.ts';
import type { RecogniserAbilities } from '../../engine/recogniser-abilities.ts';
import type { Clock } from '../foundation/clock.ts';
import { IdleWatch } from '../foundation/idle-watch.ts';
import type { Log } from '../foundation/log/log.ts';
import { coresAvailable } from '../foundation/machine/cores.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { BatchHold } from './batch-hold.ts';
import { DetectBatcher } from './detect-batcher.ts';
import {
  type Detection,
  type DetectRequest,
  EngineError,
  type SpeakRequest,
  type Speech,
  type TranscribeRequest,
  type Transcript,
  type TurnDecision,
  type TurnRequest,
} from './engine.ts';
import { EngineLoad } from './engine-load.ts';
import { Pool } from './engine-pool.ts';
import type { EnginesReport } from './engine-report.ts';
import type { EngineStatus, RecogniserInfo } from './engine-status.ts';
import { expectKind, Job, type JobReply, type JobWork, type SoundListener } from './job.ts';
import { JobDispatch } from './job-dispatch.ts';
import { type JobSignals, replyTo } from './job-signals.ts';
import type { ManagedEngine } from './managed-engine.ts';
import type { ProcessEnd } from './process-handlers.ts';
import type { EngineStartListener } from './start-listener.ts';
import { StartWaiters } from './start-waiters.ts';

/** A file's voice detection is wanted within the same time as its speech. */
const BATCH_DETECT_DUE_MS = 60_000;

/** Voice detection is wanted before the track's next window is complete. */
const DETECT_DUE_MS = 32;

/** After this many starts per worker, in a row, that ended before an engine was ready, nobody is kept waiting. */
const FAILED_STARTS_MAX = 5;

/** What an engine client works with. */
export interface EngineClientOptions {
  readonly engineSettings: EngineSettings;
  /** GPUs that the processes take turns with; absent = the one of {@link engineSettings}. */
  readonly cudaDevices?: readonly number[];
  /** Engine processes to run, at least 1. */
  readonly workers: number;
  /** Processor cores of the machine; found out if left out. */
  readonly cores?: number;
  /** Of the processes, as in nice(1); 0 unless said otherwise. */
  readonly niceness?: number;
  /** Processors that they run on; all unless said otherwise. */
  readonly cpus?: readonly number[];
  /** Shared with other clients whose engines share the cores; one of its own unless given. */
  readonly hold?: BatchHold;
  /** Stop them after this many ms without work; 0 = never. */
  readonly idleMs: number;
  /** Path of the engine's main.js. */
  readonly entry: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /**
   * The engine refused its settings: `message` says why and names the remedy. Called at most once; the client is of
   * no use from then on.
   */
  onRefused(message: string): void;
  readonly watcher?: EngineStartListener;
}

/** What a job comes with beside its work. */
interface Terms extends JobSignals {
  readonly dueInMs: number;
  readonly tenant?: string;
  readonly onSound?: SoundListener;
}

export class EngineClient implements ManagedEngine {
  readonly #options: EngineClientOptions;
  readonly #pool: Pool;
  readonly #dispatch: JobDispatch;
  readonly #startWaiters = new StartWaiters();
  readonly #detectBatcher: DetectBatcher;
  readonly #load: EngineLoad;
  readonly #idle: IdleWatch;
  #nextId = 1;
  #failedStarts = 0;
  #isNeeded: () => boolean = () => false;
  /** Why no job is taken any more; null = jobs are taken. */
  #unavailable: string | null = null;
  #refused = false;

  /** Starts nothing yet: {@link start}, {@link wake} or the first job does. */
  constructor(options: EngineClientOptions) {
    this.#options = options;
    const { engineSettings: settings, workers, niceness = 0, idleMs, entry, clock, log, metrics } = options;
    const hold = options.hold ?? new BatchHold({ clock, cores: options.cores ?? coresAvailable() });
    const handlers = {
      progress: (text: string) => options.watcher?.onProgress(text),
      ready: () => this.#onReady(),
      answered: (job: Job, answer: JobReply | FailedMessage) => this.#onAnswered(job, answer),
      withheld: (jobs: readonly Job[]) => this.#dispatch.resend(jobs, this.#unavailable),
      alive: (jobs: readonly Job[]) => this.#onAlive(jobs),
      ended: (end: ProcessEnd) => this.#onEnded(end),
    };
    const { cudaDevices = [settings.cudaDevice], cpus = [] } = options;
    const processes = { entry, settings, cudaDevices, workers, niceness, cpus };
    this.#pool = new Pool({ ...processes, hold, clock, log, metrics, handlers });
    this.#load = new EngineLoad({ clock, metrics, workers });
    this.#dispatch = new JobDispatch({ pool: this.#pool, load: this.#load, metrics });
    const lanes = () => Math.max(this.#pool.readyCount, 1);
    this.#detectBatcher = new DetectBatcher({ clock, lanes, send: (tracks) => this.#detectTracks(tracks) });
    metrics.lanes.watch(() => this.#dispatch.lanes(clock.nowMs()));
    const isBusy = () => this.#pool.busy || this.#dispatch.waitingCount > 0 || this.isLoading;
    const hasWork = () => isBusy() || this.#isNeeded();
    this.#idle = new IdleWatch({ clock, idleMs, hasWork, onIdle: () => void this.#pool.stop() });
  }

  get load(): number {
    return this.#load.live;
  }

  get finalLoad(): number {
    return this.load;
  }

  get firmLoad(): number {
    return this.#load.firm;
  }

  /**
   * No engine can take work yet. Stopped now, engines whose models take longer to load than idle ones may live would
   * never be ready.
   */
  get isLoading(): boolean {
    return this.#pool.readyCount === 0 && !this.#pool.stopped && this.#failedStarts === 0;
  }

  get voices(): readonly VoiceInfo[] {
    return this.#pool.lastReady?.voices ?? [];
  }

  get languages(): readonly string[] {
    return this.#pool.lastReady?.languages ?? [];
  }

  get abilities(): RecogniserAbilities | null {
    return this.#pool.lastReady?.abilities ?? null;
  }

  get batchMax(): number {
    return this.#pool.lastReady?.batchMax ?? 1;
  }

  get ttsModel(): string | null {
    return this.#pool.lastReady?.ttsModel ?? null;
  }

  get turnModel(): string | null {
    return this.#pool.lastReady?.turnModel ?? null;
  }

  /**
   * Estimated ms of model runs until the text of a new request would be there; null = no engine can take it now.
   */
  readingMs({ urgency, samples }: Pick<TranscribeRequest, 'urgency' | 'samples'>): number | null {
    return this.#unavailable === null ? this.#pool.readingMs(urgency, samples.length) : null;
  }

  get status(): EngineStatus {
    const { lastReady, readyCount, pids } = this.#pool;
    return {
      state: this.#state,
      ready: readyCount,
      workers: this.#options.workers,
      provider: lastReady?.provider ?? null,
      devices: [...new Set(this.#pool.reports.flatMap(({ device }) => device ?? []))],
      models: lastReady === null ? null : namesOf(lastReady),
      recogniser: lastReady === null ? null : recogniserOf(lastReady),
      pids,
      final: null,
    };
  }

  get report(): EnginesReport {
    return { engines: this.#pool.reports, queue: this.#dispatch.queue, servers: [] };
  }

  /**
   * Starts the engines and resolves when the first one is ready.
   * @throws EngineError `unavailable` when the settings are refused, when start after start fails, or when the client
   * is closed
   */
  start(): Promise<void> {
    if (this.#unavailable !== null) return Promise.reject(new EngineError('unavailable', this.#unavailable));
    this.#startEngines();
    if (this.#pool.readyCount > 0) return Promise.resolve();
    return this.#startWaiters.wait();
  }

  wake(): void {
    if (this.#unavailable === null) this.#startEngines();
  }

  keepWhile(isNeeded: () => boolean): void {
    this.#isNeeded = isNeeded;
  }

  async transcribe(request: TranscribeRequest): Promise<Transcript> {
    const { samples, urgency, draftText, stream } = request;
    const draft = this.abilities?.drafts === false ? [] : request.draft;
    const hasText = draftText !== undefined && this.abilities?.textDrafts === true;
    const hasStream = stream !== undefined && this.abilities?.streams === true;
    const goesOn = request.goesOn === true;
    const known = { ...(hasText && { draftText }), ...(hasStream && { stream }), ...(goesOn && { goesOn }) };
    const timed = request.timed === true && this.abilities?.wordTimes !== false;
    const spelled = request.spelled === true && this.abilities?.logprobs !== false;
    const expected = this.#expected(request);
    const reply = await this.#ask(
      { kind: 'transcribe', urgency, samples, draft, timed, spelled, ...known, ...expected },
      request,
    );
    const { id: _id, kind: _kind, ...transcript } = expectKind(reply, 'transcribed');
    return this.abilities?.confidence === false ? { ...transcript, isCalibrated: false } : transcript;
  }

  async speak(request: SpeakRequest): Promise<Speech> {
    const { text, voice, speed, urgency, onSound } = request;
    const reply = await this.#ask(
      { kind: 'speak', urgency, text, voice, speed, streamed: onSound !== undefined },
      request,
    );
    const { samples, rateHz, cost } = expectKind(reply, 'spoken');
    return { samples, rateHz, cost };
  }

  async turn(request: TurnRequest): Promise<TurnDecision> {
    const reply = await this.#ask({ kind: 'turn', urgency: 'turn', samples: request.samples }, request);
    const { probability, cost } = expectKind(reply, 'turned');
    return { probability, cost };
  }

  detect(request: DetectRequest): Promise<Detection> {
    if (request.urgency === 'batch') return this.#detectBatch(request);
    if (this.#unavailable !== null) return Promise.reject(new EngineError('unavailable', this.#unavailable));
    return this.#detectBatcher.detect(request);
  }

  async close(): Promise<void> {
    this.#giveUp('the engines are being shut down');
    await this.#pool.stop();
  }

  /** What the recogniser has a use for of what is known beforehand. */
  #expected({
    language,
    hotWords = [],
    expectedWords = [],
    context,
  }: TranscribeRequest): Pick<TranscribeJob, 'language' | 'hotWords' | 'expectedWords' | 'context'> {
    const takesHotWords = hotWords.length > 0 && this.abilities?.hotWords === true;
    const takesContext = context !== undefined && this.abilities?.context === true;
    const known = language !== undefined && this.languages.includes(language);
    const takesExpected = expectedWords.length > 0 && this.abilities?.expectedWords === true;
    return {
      ...(known && { language }),
      ...(takesHotWords && { hotWords }),
      ...(takesExpected && { expectedWords }),
      ...(takesContext && { context }),
    };
  }

  get #state(): EngineStatus['state'] {
    if (this.#refused) return 'failed';
    if (this.#pool.readyCount > 0) return 'ready';
    return this.#pool.stopped ? 'stopped' : 'starting';
  }

  #startEngines(): void {
    this.#idle.note();
    this.#pool.start();
  }

  async #detectBatch(request: DetectRequest): Promise<Detection> {
    const { samples, state } = request;
    const reply = await this.#ask(
      { kind: 'detect', urgency: 'batch', tracks: [{ samples, state }] },
      { ...request, dueInMs: BATCH_DETECT_DUE_MS },
    );
    const [detection] = expectKind(reply, 'detected').tracks;
    if (detection === undefined) throw new EngineError('model_failed', 'the engine examined no track of 1');
    return detection;
  }

  async #detectTracks(tracks: readonly DetectTrack[]): Promise<DetectedMessage> {
    const job = this.#submit({ kind: 'detect', urgency: 'detect', tracks }, { dueInMs: DETECT_DUE_MS });
    return expectKind(await job.reply, 'detected');
  }

  async #ask(work: JobWork, terms: Terms): Promise<JobReply> {
    if (terms.signal?.aborted) throw new EngineError('cancelled', 'the job was cancelled before it was sent');
    const job = this.#submit(work, terms);
    const reply = await replyTo(job, terms, {
      cancel: () => this.#dispatch.cancel(job),
      hurry: () => this.#dispatch.hurry(job),
    });
    const { cost } = reply;
    return { ...reply, cost: { ...cost, waitMs: job.queuedMs + cost.waitMs } };
  }

  #submit(work: JobWork, { dueInMs, tenant = '', onSound }: Terms): Job {
    const { clock } = this.#options;
    const job = new Job({ id: this.#nextId++, work, nowMs: clock.nowMs(), dueInMs, tenant, onSound });
    if (this.#unavailable !== null) {
      job.fail('unavailable', this.#unavailable);
      return job;
    }
    this.#startEngines();
    this.#dispatch.add(job);
    // A caller holds its next window back until this one is settled, so a partial must not wait for an engine past its
    // time.
    if (isDroppable(job.urgency) && !job.sent) job.expireBy(clock.after(dueInMs, () => this.#dispatch.expire(job)));
    return job;
  }

  #onReady(): void {
    this.#failedStarts = 0;
    this.#idle.note();
    this.#startWaiters.ready();
    this.#dispatch.pump();
    const { voices, turnModel } = this;
    this.#options.watcher?.onReady(this.#pool.readyCount, this.#options.workers, { voices, turnModel });
  }

  #onAnswered(job: Job, answer: JobReply | FailedMessage): void {
    this.#idle.note();
    this.#dispatch.settle(job, answer);
  }

  /** An engine gives signs of life again: what it has need not be given to another one. */
  #onAlive(jobs: readonly Job[]): void {
    this.#startWaiters.ready();
    this.#dispatch.keep(jobs);
  }

  #onEnded(end: ProcessEnd): void {
    if (end.outcome === 'refused') this.#onRefused(end.reason);
    this.#dispatch.resend(end.lost, this.#unavailable);
    if (end.outcome === 'died' && end.readyMs === null) this.#onFailedStart(end.reason);
  }

  #onRefused(message: string): void {
    if (this.#unavailable !== null) return;
    this.#refused = true;
    this.#giveUp(message);
    void this.#pool.stop();
    this.#options.onRefused(message);
  }

  #onFailedStart(reason: string): void {
    this.#failedStarts++;
    if (this.#failedStarts < FAILED_STARTS_MAX * this.#options.workers) return;
    this.#refuseWaiting(`no engine could be started: ${reason}`);
  }

  #giveUp(message: string): void {
    this.#unavailable ??= message;
    this.#idle.close();
    this.#refuseWaiting(message);
  }

  #refuseWaiting(message: string): void {
    this.#startWaiters.refuse(message);
    this.#detectBatcher.close(new EngineError('unavailable', message));
    this.#dispatch.refuse(message);
  }
}

function namesOf({ asrModel, vadModel, ttsModel }: ReadyMessage): NonNullable<EngineStatus['models']> {
  return { asr: asrModel, vad: vadModel ?? '', tts: ttsModel ?? '' };
}

function recogniserOf({ asrModel, asrLicence, languages, abilities }: ReadyMessage): RecogniserInfo {
  return { name: asrModel, licence: asrLicence, languages, abilities };
}
