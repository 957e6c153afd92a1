/** One engine process from its fork to its end, and the table of jobs that it has been given. */
import type { ChildProcess } from 'node:child_process';
import {
  type CancelMessage,
  EXIT_WRONG_SETTINGS,
  type FailedMessage,
  type FromEngine,
  type HurryMessage,
  type ProgressMessage,
  type ReadyMessage,
  type RefusedMessage,
  type ToEngine,
  type Urgency,
} from '../../engine/contract.ts';
import type { JobCosts } from '../../engine/job-costs.ts';
import type { Timer } from '../foundation/clock.ts';
import { cpuTimeOf } from '../foundation/machine/cpu-time.ts';
import { AssignedJobs } from './assigned-jobs.ts';
import { forkEngine } from './engine-fork.ts';
import { nameDevice } from './engine-status.ts';
import { HangDetector } from './hang-detector.ts';
import type { Job, JobReply } from './job.ts';
import { LoadMeter } from './load-meter.ts';
import { LoadWatch } from './load-watch.ts';
import type { ProcessEnd } from './process-handlers.ts';
import type { ProcessOptions } from './process-options.ts';

/**
 * A process that has live jobs and gives no sign of life for so long keeps them no longer to itself: another one is
 * given them as well, and the first answer counts. So a process that was only slow loses nothing. The longest model run
 * takes 70 ms on a core of its own, the longest piece of a sentence 500 ms.
 */
const LIVE_SILENCE_MAX_MS = 1000;

/** After so long another one is started in its place. */
const REPLACE_AFTER_MS = 3000;

/**
 * A process that has recordings alone is killed after so long: nobody waits for them, and it may be in the first run of
 * a GPU.
 */
const SILENCE_MAX_MS = 15_000;

/** How long a process that was told to drain may go on with what it has. */
const DRAIN_MAX_MS = 5000;

/**
 * How long a process may live on once its channel is closed, or it was killed: one that is stuck in a driver cannot
 * even be killed.
 */
const EXIT_MAX_MS = 1000;

/** Longest piece of an engine's own output in one log line. */
const OUTPUT_MAX_CHARS = 2000;

interface ExitStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

export class EngineProcess {
  readonly #options: ProcessOptions;
  readonly #child: ChildProcess;
  readonly #jobs = new AssignedJobs();
  readonly #hangs: HangDetector;
  readonly #load: LoadMeter;
  readonly #loading: LoadWatch;
  /** It has live jobs and gives no sign of life. */
  #isUnresponsive = false;
  #state: 'starting' | 'ready' | 'draining' | 'ended' = 'starting';
  #readySinceMs: number | null = null;
  /** What it said of its models; null until it was ready, which is before it has jobs. */
  #models: ReadyMessage | null = null;
  #refusal: string | null = null;
  /** It was killed while it loaded, because nobody needed it any more. */
  #discarded = false;
  #killedFor: string | null = null;
  #exit: ExitStatus | null = null;
  #connected: boolean;
  /** Runs while the process owes us its end. */
  #watch: Timer | null = null;
  #isHeld = false;
  readonly ended: Promise<void>;
  #resolveEnded: () => void = () => undefined;

  /** Forks the process and configures it. Throws when the system refuses to fork. */
  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#load = new LoadMeter(options.clock, 1);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#hangs = new HangDetector({
      clock: options.clock,
      hasWork: () => this.#jobs.size > 0,
      ask: () => this.#send({ kind: 'ask' }),
      onSilent: (silentMs) => this.#onSilent(silentMs),
    });
    this.#child = forkEngine(options.entry, options);
    // False when not even the channel could be made; the reason follows as an 'error' event.
    this.#connected = this.#child.connected;
    this.#listen();
    this.#send({ kind: 'configure', settings: options.settings });
    this.#loading = new LoadWatch({
      clock: options.clock,
      cpuMs: () => (this.pid === null ? null : cpuTimeOf(this.pid)),
      onStuck: (reason) => this.kill(reason),
    });
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** What its recogniser runs on; null until it was ready. */
  get device(): string | null {
    return this.#models && nameDevice(this.#models.provider, this.#options.settings.cudaDevice);
  }

  /** Whether it can take jobs. */
  get ready(): boolean {
    return this.#state === 'ready' && this.#connected && !this.#isUnresponsive && this.#killedFor === null;
  }

  /** How long it has been ready; null = it never was. */
  get readyMs(): number | null {
    return this.#readySinceMs === null ? null : this.#options.clock.nowMs() - this.#readySinceMs;
  }

  /** Whether it has work and gives no sign of life. */
  get isSilent(): boolean {
    return this.#isUnresponsive;
  }

  /** Share of its time that model runs took over the last 5 s, 0 to 1. */
  get busyShare(): number {
    return this.#load.share;
  }

  /** Jobs that have not been answered yet. */
  get pendingCount(): number {
    return this.#jobs.size;
  }

  /** The urgency of each of them. */
  get urgencies(): Urgency[] {
    return this.#jobs.all.map(({ urgency }) => urgency);
  }

  /** Whether it is at work on something that may wait. */
  get holdsBatch(): boolean {
    return this.#jobs.hasBatch;
  }

  /** Whether it is at work on speech that somebody waits for. Voice detection is over too soon to count. */
  get holdsLive(): boolean {
    return this.#jobs.hasSpeech;
  }

  /** Whether `job` may be given to this process now. */
  accepts(job: Job): boolean {
    if (!this.ready || this.#jobs.hasLone) return false;
    // What one engine kept to itself is not given to a second one that may hang as well.
    if (job.sent && this.#hangs.isAsked) return false;
    if (job.mustTravelAlone) return this.#jobs.size === 0;
    return job.urgency !== 'batch' || this.#jobs.hasRoomFor(job, this.#models?.batchMax ?? 1);
  }

  /** Estimated ms of model runs that go before a new job of `urgency`. */
  workBefore(urgency: Urgency): number {
    return this.#models === null ? 0 : this.#jobs.workBefore(urgency, this.#models.costs, this.#models.batchMax);
  }

  /** What jobs cost here; null until it was ready. */
  get costs(): JobCosts | null {
    return this.#models?.costs ?? null;
  }

  /** Whether it has `job`, answered or not by somebody else. */
  has(job: Job): boolean {
    return this.#jobs.has(job);
  }

  /** Whether it has `job` and gives signs of life. */
  isAtWorkOn(job: Job): boolean {
    return this.has(job) && !this.#isUnresponsive;
  }

  /** Sends a job that the process {@link accepts}. */
  deliver(job: Job): void {
    this.#jobs.add(job);
    this.#send(job.deliver(this.#options.clock.nowMs()));
    this.#hangs.begin();
  }

  /**
   * Tells the process to forget `job`, if it has it. The job stays in the table until that is confirmed: it may be in
   * the middle of a run.
   */
  cancel(job: Job): void {
    if (this.has(job)) this.#send({ kind: 'cancel', id: job.id } satisfies CancelMessage);
  }

  /** Tells the process, if it has `job`, that somebody waits for it now. */
  hurry(job: Job): void {
    if (this.has(job)) this.#send({ kind: 'hurry', id: job.id } satisfies HurryMessage);
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
    if (this.#killedFor !== null) return;
    this.#killedFor = reason;
    this.#killNow();
  }

  #discard(): void {
    this.#state = 'draining';
    this.#discarded = true;
    this.#killNow();
  }

  #killNow(): void {
    this.#child.kill('SIGKILL');
    this.#expectNothing();
    this.#watch = this.#options.clock.after(EXIT_MAX_MS, () => this.#abandon());
  }

  /** It does not even go when it is killed: nothing waits for it any more. */
  #abandon(): void {
    const child = this.#child;
    this.#end(
      'died',
      `${this.#killedFor ?? 'was not needed any more'}; was killed and did not go within ${EXIT_MAX_MS} ms`,
    );
    child.unref();
    child.stdout?.destroy();
    child.stderr?.destroy();
    if (child.connected) child.disconnect();
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
      if (error !== null)
        this.#options.log.debug({ enginePid: this.pid, err: error }, 'a message did not reach its engine');
    });
  }

  #onMessage(message: FromEngine): void {
    if (this.#state === 'ended') return;
    this.#onSignOfLife();
    if (message.kind === 'alive') return;
    if (message.kind === 'refused') this.#onRefused(message);
    else if (message.kind === 'ready') this.#onReady(message);
    else if (message.kind === 'progress') this.#onProgress(message);
    else if (message.kind === 'loading') this.#loading.begin(message.stage);
    else if (message.kind === 'sound') this.#jobs.tell(message);
    else this.#onAnswer(message);
  }

  #onRefused(message: RefusedMessage): void {
    this.#refusal = message.message;
    this.#expectWithin(DRAIN_MAX_MS, 'refused its settings and did not exit');
  }

  #onProgress({ text }: ProgressMessage): void {
    this.#loading.received();
    this.#options.log.info({ enginePid: this.pid }, text);
    this.#options.handlers.progress(text);
  }

  #onReady(message: ReadyMessage): void {
    if (this.#state !== 'starting') return;
    this.#state = 'ready';
    this.#readySinceMs = this.#options.clock.nowMs();
    this.#models = message;
    this.#expectNothing();
    this.#options.handlers.ready(message);
  }

  #onAnswer(answer: JobReply | FailedMessage): void {
    const assigned = this.#jobs.take(answer.id);
    if (assigned === undefined) return;
    const { job, toldSamples } = assigned;
    if (answer.kind !== 'failed') this.#load.add(answer.cost.runMs);
    this.#options.handlers.answered(job, answer.kind === 'spoken' ? job.withoutKnown(answer, toldSamples) : answer);
  }

  #onSignOfLife(): void {
    const wasAsked = this.#hangs.isAsked;
    this.#hangs.received();
    if (!wasAsked) return;
    this.#isUnresponsive = false;
    this.#options.handlers.alive(this.#jobs.all);
  }

  #onSilent(silentMs: number): void {
    if (silentMs >= SILENCE_MAX_MS) this.kill(`had work and gave no sign of life within ${SILENCE_MAX_MS} ms`);
    else if (silentMs >= LIVE_SILENCE_MAX_MS && this.#state === 'ready') this.#onWithheld(silentMs);
  }

  #onWithheld(silentMs: number): void {
    const { log, handlers } = this.#options;
    const { live } = this.#jobs;
    if (live.length === 0) return;
    if (!this.#isUnresponsive)
      log.warn({ enginePid: this.pid, silentMs, liveJobs: live.length }, 'engine gives no sign of life');
    this.#isUnresponsive = true;
    handlers.withheld(live);
    if (silentMs >= REPLACE_AFTER_MS) handlers.hung();
  }

  /**
   * Without its channel a process is of no use, but it may just be on its way out: then its exit says more than the end
   * of the channel.
   */
  #onDisconnect(): void {
    this.#connected = false;
    if (this.#state === 'ended') return;
    if (this.#state !== 'draining' && this.#killedFor === null)
      this.#expectWithin(EXIT_MAX_MS, 'closed its channel and did not exit');
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
    this.#hangs.end();
    const lost = this.#jobs.takeAll();
    this.#options.handlers.ended({ outcome, reason, lost, readyMs: this.readyMs });
    this.#resolveEnded();
  }

  #expectWithin(limitMs: number, complaint: string): void {
    this.#expectNothing();
    this.#watch = this.#options.clock.after(limitMs, () => this.kill(`${complaint} within ${limitMs} ms`));
  }

  #expectNothing(): void {
    this.#loading.end();
    this.#watch?.cancel();
    this.#watch = null;
  }
}
