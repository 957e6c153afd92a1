/** One engine process from its fork to its end, and the table of jobs that it has been given. */
import { type ChildProcess, fork } from 'node:child_process';
import {
  type CancelMessage,
  type EngineSettings,
  EXIT_WRONG_SETTINGS,
  type FailedMessage,
  type FromEngine,
  type HurryMessage,
  type ReadyMessage,
  type RefusedMessage,
  type ToEngine,
  type Urgency,
} from '../../engine/contract.ts';
import type { Clock, Timer } from '../clock.ts';
import { childEnvironment } from '../config.ts';
import type { Log } from '../log.ts';
import type { Job, JobReply } from './job.ts';
import { isAsUrgent } from './queue.ts';

/** A process that has work and says nothing for this long hangs: the longest model run, on a slow machine, is a tenth of it. */
const SILENCE_MAX_MS = 15_000;

/** Loading the models takes 0.5 s on a CPU; the first use of a GPU may take half a minute. */
const START_MAX_MS = 60_000;

/** How long a process that was told to drain may go on with what it has. */
const DRAIN_MAX_MS = 5000;

/** How long a process may live on once its channel is closed. */
const EXIT_MAX_MS = 1000;

/**
 * What keeps an engine small and quick, measured (CONTRIBUTING.md): one heap for all threads, what a model run or loading needed for a while goes back to
 * the system, and weights lie in huge pages where the system has them, for every token reads all of them. Of glibc's allocator; others do not look at
 * these (mallopt(3), and glibc's manual on tunables).
 */
export const ENGINE_ENVIRONMENT = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: String(4 * 2 ** 20),
  MALLOC_TRIM_THRESHOLD_: String(16 * 2 ** 20),
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
};

/** Messages and their samples are all that an engine's JavaScript makes: 1 MB is enough to collect them in. */
const NODE_FLAGS = ['--max-semi-space-size=1'];

/** Longest piece of an engine's own output in one log line. */
const OUTPUT_MAX_CHARS = 2000;

/** How a process ended. `lost` were given to it and not answered. */
export interface ProcessEnd {
  readonly outcome: 'drained' | 'refused' | 'died';
  /** What happened, for people. */
  readonly reason: string;
  readonly lost: readonly Job[];
  /** How long it had been ready; null = it never was. */
  readonly readyMs: number | null;
}

/** Whom a process tells. */
export interface ProcessHandlers {
  ready(message: ReadyMessage): void;
  /** The engine's answer to `job`, which is no longer in the table. */
  answered(job: Job, answer: JobReply | FailedMessage): void;
  /** Called once, after everything the process had said was handled. */
  ended(end: ProcessEnd): void;
}

/** What a process is started with. */
export interface ProcessOptions {
  /** Path of the engine's main file. */
  readonly entry: string;
  readonly settings: EngineSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly handlers: ProcessHandlers;
}

interface ExitStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

export class EngineProcess {
  readonly #options: ProcessOptions;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Job>();
  #state: 'starting' | 'ready' | 'draining' | 'ended' = 'starting';
  #readySinceMs: number | null = null;
  #refusal: string | null = null;
  /** It was killed while it loaded, because nobody needed it any more. */
  #discarded = false;
  #killedFor: string | null = null;
  #exit: ExitStatus | null = null;
  #connected: boolean;
  /** Runs while the process owes us something: its readiness, an answer, its end. */
  #watch: Timer | null = null;
  /** The job that has this process to itself. */
  #lone: Job | null = null;
  #isHeld = false;
  readonly ended: Promise<void>;
  #resolveEnded: () => void = () => undefined;

  /** Forks the process and configures it. Throws when the system refuses to fork. */
  constructor(options: ProcessOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#child = fork(options.entry, [], {
      serialization: 'advanced',
      env: childEnvironment(ENGINE_ENVIRONMENT),
      // Two processes cannot share an inspector's port.
      execArgv: [...NODE_FLAGS, ...process.execArgv.filter((flag) => !flag.startsWith('--inspect'))],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    // False when not even the channel could be made; the reason follows as an 'error' event.
    this.#connected = this.#child.connected;
    this.#listen();
    this.#send({ kind: 'configure', settings: options.settings });
    this.#expectWithin(START_MAX_MS, 'was not ready');
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  get ready(): boolean {
    return this.#state === 'ready' && this.#connected;
  }

  /** Jobs that have not been answered yet. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** Whether it is at work on something that may wait. */
  get holdsBatch(): boolean {
    return this.#holds((urgency) => urgency === 'batch');
  }

  /** Whether it is at work on speech that somebody waits for. Voice detection is over too soon to count. */
  get holdsLive(): boolean {
    return this.#holds((urgency) => urgency !== 'batch' && urgency !== 'detect');
  }

  /** Whether `job` may be given to this process now. */
  accepts(job: Job): boolean {
    if (!this.ready || this.#lone !== null) return false;
    if (job.mustTravelAlone) return this.#pending.size === 0;
    return job.urgency !== 'batch' || !this.holdsBatch;
  }

  /** Estimated ms of model runs that go before a new job of `urgency`. */
  workBefore(urgency: Urgency): number {
    let sumMs = 0;
    for (const job of this.#pending.values()) {
      if (isAsUrgent(job.urgency, urgency)) sumMs += job.estimatedMs;
    }
    return sumMs;
  }

  /** Sends a job that the process {@link accepts}. */
  deliver(job: Job): void {
    if (job.mustTravelAlone) this.#lone = job;
    this.#pending.set(job.id, job);
    this.#send(job.deliver(this.#options.clock.nowMs()));
    if (this.#pending.size === 1) this.#expectAnswer();
  }

  /** Tells the process to forget `job`, if it has it. The job stays in the table until that is confirmed: it may be in the middle of a run. */
  cancel(job: Job): void {
    if (this.#pending.has(job.id)) this.#send({ kind: 'cancel', id: job.id } satisfies CancelMessage);
  }

  /** Tells the process, if it has `job`, that somebody waits for it now. */
  hurry(job: Job): void {
    if (this.#pending.has(job.id)) this.#send({ kind: 'hurry', id: job.id } satisfies HurryMessage);
  }

  /** Whether its batch jobs wait. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Has the process keep its batch jobs waiting, or lets them go on. */
  hold(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    this.#send({ kind: 'hold', isHeld });
  }

  /** Lets the process finish what it has and go; one that is still loading has nothing to finish and is killed. */
  stop(): void {
    if (this.#state === 'starting') this.#discard();
    if (this.#state !== 'ready') return;
    this.#state = 'draining';
    this.#send({ kind: 'drain' });
    this.#expectWithin(DRAIN_MAX_MS, 'was not drained');
  }

  kill(reason: string): void {
    this.#killedFor ??= reason;
    this.#child.kill('SIGKILL');
  }

  #discard(): void {
    this.#state = 'draining';
    this.#discarded = true;
    this.#child.kill('SIGKILL');
  }

  #listen(): void {
    const child = this.#child;
    const { log } = this.#options;
    child.on('message', (message) => this.#onMessage(message as FromEngine));
    child.on('exit', (code, signal) => {
      this.#exit = { code, signal };
      this.#endIfGone();
    });
    child.on('disconnect', () => this.#onDisconnect());
    child.on('error', (error) => this.#onError(error));
    child.stdout?.setEncoding('utf8').on('data', (output: string) => {
      log.debug({ enginePid: this.pid, output: output.trimEnd().slice(0, OUTPUT_MAX_CHARS) }, 'engine output');
    });
    child.stderr?.setEncoding('utf8').on('data', (output: string) => {
      log.warn({ enginePid: this.pid, output: output.trimEnd().slice(0, OUTPUT_MAX_CHARS) }, 'engine complained');
    });
  }

  #send(message: ToEngine): void {
    if (!this.#connected || this.#state === 'ended') return;
    this.#child.send(message, (error) => {
      if (error !== null) this.#options.log.debug({ enginePid: this.pid, err: error }, 'a message did not reach its engine');
    });
  }

  #onMessage(message: FromEngine): void {
    if (this.#state === 'ended') return;
    if (message.kind === 'refused') this.#onRefused(message);
    else if (message.kind === 'ready') this.#onReady(message);
    else if (message.kind === 'progress') this.#options.log.info({ enginePid: this.pid }, message.text);
    else this.#onAnswer(message);
  }

  #onRefused(message: RefusedMessage): void {
    this.#refusal = message.message;
    this.#expectWithin(DRAIN_MAX_MS, 'refused its settings and did not exit');
  }

  #onReady(message: ReadyMessage): void {
    if (this.#state !== 'starting') return;
    this.#state = 'ready';
    this.#readySinceMs = this.#options.clock.nowMs();
    this.#expectNothing();
    this.#options.handlers.ready(message);
  }

  #onAnswer(answer: JobReply | FailedMessage): void {
    const job = this.#pending.get(answer.id);
    if (job === undefined) return;
    this.#pending.delete(answer.id);
    if (this.#lone === job) this.#lone = null;
    if (this.#state === 'ready') this.#expectAnswer();
    this.#options.handlers.answered(job, answer);
  }

  /** Without its channel a process is of no use, but it may just be on its way out: then its exit says more than the end of the channel. */
  #onDisconnect(): void {
    this.#connected = false;
    if (this.#state !== 'draining') this.#expectWithin(EXIT_MAX_MS, 'closed its channel and did not exit');
    this.#endIfGone();
  }

  #onError(error: Error): void {
    if (this.#child.pid !== undefined) {
      this.#options.log.debug({ enginePid: this.pid, err: error }, 'engine channel error');
      return;
    }
    this.#end('died', `could not be started: ${error.message}`);
  }

  /** The exit may be seen before the last messages; the channel's end comes after them. */
  #endIfGone(): void {
    if (this.#exit === null || this.#connected) return;
    const { code, signal } = this.#exit;
    if (code === EXIT_WRONG_SETTINGS || this.#refusal !== null) {
      this.#end('refused', this.#refusal ?? 'the engine refused its settings without saying why');
    } else if (this.#state === 'draining' && (code === 0 || this.#discarded)) {
      this.#end('drained', 'drained');
    } else {
      this.#end('died', this.#killedFor ?? (signal === null ? `exited with code ${code}` : `was ended by ${signal}`));
    }
  }

  #end(outcome: ProcessEnd['outcome'], reason: string): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#expectNothing();
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    const readyMs = this.#readySinceMs === null ? null : this.#options.clock.nowMs() - this.#readySinceMs;
    this.#options.handlers.ended({ outcome, reason, lost, readyMs });
    this.#resolveEnded();
  }

  #expectAnswer(): void {
    if (this.#pending.size === 0) this.#expectNothing();
    else this.#expectWithin(SILENCE_MAX_MS, 'had work and said nothing');
  }

  #expectWithin(limitMs: number, complaint: string): void {
    this.#expectNothing();
    this.#watch = this.#options.clock.after(limitMs, () => this.kill(`${complaint} within ${limitMs} ms`));
  }

  #expectNothing(): void {
    this.#watch?.cancel();
    this.#watch = null;
  }

  #holds(isMeant: (urgency: Urgency) => boolean): boolean {
    for (const { urgency } of this.#pending.values()) {
      if (isMeant(urgency)) return true;
    }
    return false;
  }
}
