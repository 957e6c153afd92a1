/** The engine processes together: which of them are up, and which one takes the next job. */
import type { EngineSettings, ReadyMessage, Urgency } from '../../engine/contract.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { BatchHold } from './batch-hold.ts';
import { EngineProcess } from './engine-process.ts';
import type { EngineReport } from './engine-report.ts';
import { nameDevice } from './engine-status.ts';
import { estimateReading, type Job } from './job.ts';
import type { ProcessEnd, ProcessHandlers } from './process-handlers.ts';
import { StreamPlaces } from './stream-places.ts';
import { SupervisedProcess, type SupervisedProcessHandlers } from './supervised-process.ts';

/** What a pool reports. */
export interface PoolHandlers extends Omit<ProcessHandlers, 'ready' | 'hung'> {
  /** One more process can take jobs. */
  ready(): void;
}

/** What a pool works with. */
export interface PoolOptions {
  readonly entry: string;
  readonly settings: EngineSettings;
  /** GPUs, at least one: process n has the device at n modulo their number, however often it is started. */
  readonly cudaDevices: readonly number[];
  readonly workers: number;
  /** Of the processes, as in nice(1). */
  readonly niceness: number;
  /** Processors that they run on; empty = all. */
  readonly cpus: readonly number[];
  /** Holds batch jobs back in all pools that share the cores. */
  readonly hold: BatchHold;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly handlers: PoolHandlers;
}

/**
 * How long a live job waits, on average, for the model run of a batch job to end: half a run of the decoder, or of an
 * encoder graph over 10 s.
 */
const BATCH_RUN_MS = 8;

interface Rival {
  readonly process: EngineProcess;
  readonly beforeMs: number;
  readonly liveMs: number;
}

export class Pool {
  readonly #options: PoolOptions;
  readonly #members: readonly SupervisedProcess[];
  readonly #hold: BatchHold;
  readonly #streams = new StreamPlaces();
  #lastReady: ReadyMessage | null = null;
  readonly #warnings = new Set<string>();
  #shownReady = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#hold = options.hold;
    this.#hold.watch(() => this.#members.flatMap(({ process }) => (process?.ready ? [process] : [])));
    this.#members = Array.from({ length: options.workers }, (_, index) => this.#makeMember(index));
  }

  /** Processes that can take jobs. */
  get readyCount(): number {
    return this.#members.reduce((count, member) => (member.process?.ready ? count + 1 : count), 0);
  }

  /** Whether no process runs or is due to be started. */
  get stopped(): boolean {
    return this.#members.every((member) => member.stopped);
  }

  /** Whether some process has jobs to answer. */
  get busy(): boolean {
    return this.#members.some((member) => (member.process?.pendingCount ?? 0) > 0);
  }

  get pids(): number[] {
    return this.#processes.flatMap((process) => process.pid ?? []);
  }

  /** How each of the processes is. */
  get reports(): EngineReport[] {
    const { role } = this.#options.settings;
    return this.#members.map((member) => ({ role, ...member.report }));
  }

  /** The urgency of every job that some process has. */
  get urgencies(): Urgency[] {
    return this.#processes.flatMap((process) => process.urgencies);
  }

  /** What the latest process said of its models; null until one was ready. */
  get lastReady(): ReadyMessage | null {
    return this.#lastReady;
  }

  /** Starts every process that neither runs nor is due to be started. */
  start(): void {
    for (const member of this.#members) member.start();
  }

  /** Lets the processes finish their jobs and go; resolves when none is left. */
  async stop(): Promise<void> {
    const stops = this.#members.map((member) => member.stop());
    this.#showReady();
    await Promise.all(stops);
  }

  /**
   * The process that would begin `job` first by the estimates; null when none may take it now. Where calls are live,
   * batch jobs leave one of several processes free: it takes what is live, which then need not even wait for the end of
   * a batch job's model run. A process that has batch jobs may be given more of them, where it has room.
   */
  pick(job: Job, { keepOneFree = false } = {}): EngineProcess | null {
    const isOneKept = keepOneFree && job.urgency === 'batch' && this.#freeOfBatch <= 1 && this.readyCount > 1;
    let best: Rival | null = null;
    for (const { process } of this.#members) {
      if (!process?.accepts(job) || (isOneKept && !process.holdsBatch)) continue;
      const runningMs = process.holdsBatch && !process.isHeld ? BATCH_RUN_MS : 0;
      const rival = {
        process,
        beforeMs: runningMs + process.workBefore(job.urgency),
        liveMs: process.workBefore('partial'),
      };
      const gainMs = best === null ? 1 : best.beforeMs - rival.beforeMs || best.liveMs - rival.liveMs;
      if (gainMs > 0) best = rival;
    }
    return best === null ? null : this.#streams.choose(job, best.process, this.#options.clock.nowMs());
  }

  /** Gives `job` to the process that was {@link pick}ed for it. */
  deliver(job: Job, process: EngineProcess): void {
    this.#streams.note(job, process);
    process.deliver(job);
  }

  /**
   * Estimated ms of model runs until a new transcription of so many samples would be done; null = no process can take
   * it now.
   */
  readingMs(urgency: Urgency, samples: number): number | null {
    const estimates = this.#members.flatMap(({ process }) => {
      if (!process?.ready) return [];
      return process.workBefore(urgency) + estimateReading(samples, process.costs?.transcribe ?? null);
    });
    return estimates.length === 0 ? null : Math.min(...estimates);
  }

  /** Holds batch jobs back, or lets them go on, now that the processes have other jobs than before. */
  balance(): void {
    this.#hold.apply();
  }

  /** Whether some process has `job`, be it one that gives no sign of life. */
  has(job: Job): boolean {
    return this.#processes.some((process) => process.has(job));
  }

  /** Whether a process that gives signs of life has `job`. */
  isAtWorkOn(job: Job): boolean {
    return this.#processes.some((process) => process.isAtWorkOn(job));
  }

  /** Tells whichever process has `job` to forget it. */
  cancel(job: Job): void {
    for (const process of this.#processes) process.cancel(job);
  }

  /** Tells whichever process has `job` that it is urgent now. */
  hurry(job: Job): void {
    for (const process of this.#processes) process.hurry(job);
  }

  get #processes(): EngineProcess[] {
    return this.#members.flatMap((member) => member.processes);
  }

  get #freeOfBatch(): number {
    return this.#members.reduce((count, { process }) => (process?.ready && !process.holdsBatch ? count + 1 : count), 0);
  }

  #makeMember(index: number): SupervisedProcess {
    const { settings, cudaDevices } = this.#options;
    const cudaDevice = cudaDevices[index % cudaDevices.length] ?? settings.cudaDevice;
    return new SupervisedProcess({
      clock: this.#options.clock,
      launch: (supervisor) => this.#launch({ ...settings, cudaDevice }, supervisor),
      onEnd: (end, restartInMs) => this.#onEnd(end, restartInMs),
      onReplaced: (restartInMs) => this.#onReplaced(restartInMs),
    });
  }

  #launch(settings: EngineSettings, supervisor: SupervisedProcessHandlers): EngineProcess {
    const { entry, niceness, cpus, clock, log, handlers } = this.#options;
    return new EngineProcess({
      entry,
      settings,
      niceness,
      cpus,
      clock,
      log,
      handlers: {
        ...handlers,
        ...supervisor,
        ready: (message) => this.#onReady(message, settings),
        withheld: (jobs) => {
          this.#showReady();
          handlers.withheld(jobs);
        },
        alive: (jobs) => {
          this.#showReady();
          handlers.alive(jobs);
        },
      },
    });
  }

  #onReady(message: ReadyMessage, { role, cudaDevice }: EngineSettings): void {
    const { log, handlers, metrics, workers } = this.#options;
    const { asrModel, vadModel, ttsModel, turnModel, provider, loadMs, warmUpMs, warning } = message;
    const device = nameDevice(provider, cudaDevice);
    const took = { loadMs: Math.round(loadMs), warmUpMs: Math.round(warmUpMs) };
    log.info(
      { role, ready: this.readyCount, workers, asrModel, vadModel, ttsModel, turnModel, device, ...took },
      'engine ready',
    );
    metrics.engineStart.observe((loadMs + warmUpMs) / 1000);
    // Processes with the same device say the same; the operator needs it once.
    if (warning !== null && !this.#warnings.has(warning)) log.warn(warning);
    if (warning !== null) this.#warnings.add(warning);
    this.#lastReady = message;
    this.#showReady();
    handlers.ready();
  }

  #onEnd(end: ProcessEnd, restartInMs: number | null): void {
    const { log, metrics, handlers } = this.#options;
    this.#showReady();
    if (end.outcome === 'died') log.warn({ reason: end.reason, lostJobs: end.lost.length, restartInMs }, 'engine died');
    if (restartInMs !== null) metrics.engineRestarts.inc();
    handlers.ended(end);
  }

  #onReplaced(restartInMs: number): void {
    const { log, metrics } = this.#options;
    this.#showReady();
    log.warn({ restartInMs }, 'engine hangs: another one is started in its place');
    metrics.engineRestarts.inc();
  }

  #showReady(): void {
    const { readyCount } = this;
    // By the difference: there may be a second pool.
    this.#options.metrics.enginesReady.inc(readyCount - this.#shownReady);
    this.#shownReady = readyCount;
  }
}
