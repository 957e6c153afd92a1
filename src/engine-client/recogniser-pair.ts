/** Two recognisers as one engine: a quick one for partial captions, and a better one for finals and recordings. */
import { isDroppable, type RecogniserRole } from '../../engine/contract.ts';
import type { RecogniserAbilities } from '../../engine/recogniser-abilities.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { type Answer, anyOf, isCancelled, toAnswer, within } from './answer.ts';
import { EngineError, type TranscribeRequest, type Transcript } from './engine.ts';
import type { EngineClient } from './engine-client.ts';
import type { EnginesReport } from './engine-report.ts';
import type { EngineStatus } from './engine-status.ts';
import { EngineWrapper } from './engine-wrapper.ts';
import type { ManagedEngine } from './managed-engine.ts';
import { ReadingPace } from './reading-pace.ts';

/** What came too late to be a final may still come within this time, to revise it. */
const REVISION_MAX_MS = 2000;

/**
 * Why the other recogniser read what this one should have: no answer came in time, that was known beforehand, no engine
 * could take it, or it failed.
 */
type FallbackReason = 'late' | 'busy' | 'not_ready' | 'failed';

interface RecogniserPairOptions {
  /** Does everything but reading finals and recordings, and that as well where `final` cannot in time. */
  readonly live: ManagedEngine;
  readonly final: ManagedEngine & Pick<EngineClient, 'readingMs'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

type ReadAnswer = Answer<Transcript>;

type TimedRequest = TranscribeRequest & { readonly lateInMs: number };

/**
 * Routes what is to be read by {@link TranscribeRequest.use}. A live final never waits longer for the better recogniser
 * than it says: by then, or at once where that is foreseen, the quick one reads it.
 */
export class RecogniserPair extends EngineWrapper {
  readonly #options: RecogniserPairOptions;
  readonly #pace = new ReadingPace();
  readonly #told = new Set<FallbackReason>();
  /** The better one does not start. */
  #isFinalMissing = false;

  constructor(options: RecogniserPairOptions) {
    super(options.live);
    this.#options = options;
  }

  override get finalLoad(): number {
    return this.#options.final.load;
  }

  /** Of the better one: what it says in the end is in these. Empty until that one was ready or did not start. */
  override get languages(): readonly string[] {
    return this.#reader.languages;
  }

  override get abilities(): RecogniserAbilities | null {
    return this.#reader.abilities;
  }

  override get batchMax(): number {
    return this.#reader.batchMax ?? 1;
  }

  /** Calls can be taken without the better one: state and counts are those of the other engines. */
  override get status(): EngineStatus {
    const { live, final } = this.#options;
    const { state, ready, workers, recogniser } = final.status;
    return {
      ...live.status,
      pids: [...live.status.pids, ...final.status.pids],
      final: { state, ready, workers, recogniser },
    };
  }

  override get report(): EnginesReport {
    const [live, final] = [this.#options.live.report, this.#options.final.report];
    return {
      engines: [...live.engines, ...final.engines],
      queue: live.queue.map(({ urgency, waiting, assigned }, index) => ({
        urgency,
        waiting: waiting + (final.queue[index]?.waiting ?? 0),
        assigned: assigned + (final.queue[index]?.assigned ?? 0),
      })),
      servers: [],
    };
  }

  /** Resolves when both are ready, or the quick one is and the better one does not start. */
  override async start(): Promise<void> {
    const { live, final } = this.#options;
    await Promise.all([live.start(), final.start().catch((error: unknown) => this.#onMissing(error))]);
  }

  override keepWhile(isNeeded: () => boolean): void {
    super.keepWhile(isNeeded);
    this.#options.final.keepWhile(isNeeded);
  }

  override wake(): void {
    super.wake();
    this.#options.final.wake();
  }

  override async transcribe(request: TranscribeRequest): Promise<Transcript> {
    const { lateInMs } = request;
    if (request.use !== 'final') return this.#read('live', request);
    if (isDroppable(request.urgency)) return this.#readIfSoon(request);
    if (lateInMs !== undefined) return this.#readInTime({ ...request, lateInMs });
    const answer = await this.#answerOf(request);
    return 'found' in answer ? answer.found : this.#standIn('failed', request, answer.error);
  }

  override async close(): Promise<void> {
    await Promise.all([super.close(), this.#options.final.close()]);
  }

  /** The one whose texts are the last word. */
  get #reader(): ManagedEngine {
    const { live, final } = this.#options;
    return this.#isFinalMissing && final.abilities === null ? live : final;
  }

  /** What is worth nothing when it is late is not read by the other one, whose text would be no better. */
  async #readIfSoon(request: TranscribeRequest): Promise<Transcript> {
    const reason = this.#whyNot(request, request.dueInMs);
    if (reason === null) return this.#measured(request);
    throw new EngineError('stale', `the recogniser of finals could not have read it in time (${reason})`);
  }

  async #readInTime(request: TimedRequest): Promise<Transcript> {
    const reason = this.#whyNot(request, request.lateInMs);
    if (reason !== null) return this.#standIn(reason, request);
    const given = new AbortController();
    const answer = this.#answerOf({ ...request, signal: anyOf(request.signal, given.signal) });
    const soon = await within(this.#options.clock, request.lateInMs, answer);
    if (soon === null) return this.#readLate(request, answer, given);
    return 'found' in soon ? soon.found : this.#standIn('failed', request, soon.error);
  }

  /** The better one is late: whichever of the two is there first. */
  async #readLate(request: TimedRequest, answer: Promise<ReadAnswer>, given: AbortController): Promise<Transcript> {
    const instead = new AbortController();
    const standIn = this.#read('live', { ...request, signal: anyOf(request.signal, instead.signal) });
    const first = await Promise.race([toAnswer(standIn), answer.then((found) => ('error' in found ? null : found))]);
    if (first === null) return this.#counted('late', await standIn);
    if ('error' in first) {
      given.abort();
      throw first.error;
    }
    if (first.found.by === 'final') {
      instead.abort();
      return first.found;
    }
    return { ...this.#counted('late', first.found), late: this.#revision(answer, given) };
  }

  async #revision(answer: Promise<ReadAnswer>, given: AbortController): Promise<Transcript | null> {
    const found = await within(this.#options.clock, REVISION_MAX_MS, answer);
    given.abort();
    return found !== null && 'found' in found ? found.found : null;
  }

  /** Reads with the quick one. @param error why the better one could not, if it tried */
  async #standIn(reason: FallbackReason, request: TranscribeRequest, error?: unknown): Promise<Transcript> {
    if (isCancelled(error)) throw error;
    return this.#counted(reason, await this.#read('live', request));
  }

  #counted(reason: FallbackReason, transcript: Transcript): Transcript {
    this.#options.metrics.finalFallbacks.inc({ reason });
    if (!this.#told.has(reason)) this.#options.log.warn({ reason }, TEXTS[reason]);
    this.#told.add(reason);
    return transcript;
  }

  /** Why the better one would not have read it within `limitMs`; null = it will have, for all that is known. */
  #whyNot(request: TranscribeRequest, limitMs: number): 'not_ready' | 'busy' | null {
    const { final } = this.#options;
    const estimateMs = final.readingMs(request);
    if (estimateMs === null) {
      final.wake();
      return 'not_ready';
    }
    if (this.#pace.expectedMs(estimateMs) <= limitMs) return null;
    this.#pace.skip();
    return 'busy';
  }

  #answerOf(request: TranscribeRequest): Promise<ReadAnswer> {
    return toAnswer(this.#measured(request));
  }

  /** Reads with the better one, and learns how long that takes. */
  async #measured(request: TranscribeRequest): Promise<Transcript> {
    const { final, clock } = this.#options;
    const estimateMs = request.urgency === 'batch' ? 0 : (final.readingMs(request) ?? 0);
    const askedMs = clock.nowMs();
    try {
      const transcript = await this.#read('final', request);
      this.#pace.note(estimateMs, clock.nowMs() - askedMs);
      return transcript;
    } catch (error) {
      // One that nobody waits for any more took at least so long.
      if (clock.nowMs() - askedMs > this.#pace.expectedMs(estimateMs))
        this.#pace.note(estimateMs, clock.nowMs() - askedMs);
      throw error;
    }
  }

  /** A draft of the other one's tokens goes as text. */
  async #read(by: RecogniserRole, request: TranscribeRequest): Promise<Transcript> {
    const { draftBy = by, draftText, ...rest } = request;
    const isOwn = draftBy === by;
    const known = { draft: isOwn ? request.draft : [], ...(!isOwn && draftText !== undefined && { draftText }) };
    return { ...(await this.#options[by].transcribe({ ...rest, ...known })), by };
  }

  #onMissing(error: unknown): void {
    this.#isFinalMissing = true;
    this.#options.log.error({ err: error }, 'no engine with ASR_FINAL_MODEL is ready: ASR_MODEL reads everything');
  }
}

const TEXTS: Readonly<Record<FallbackReason, string>> = {
  late: 'ASR_FINAL_MODEL was too slow for a final: ASR_MODEL read it. Metrics count the next ones',
  busy: 'ASR_FINAL_MODEL has too much to do for a final: ASR_MODEL read it. Metrics count the next ones',
  not_ready: 'no engine with ASR_FINAL_MODEL is ready for a final: ASR_MODEL read it. Metrics count the next ones',
  failed: 'ASR_FINAL_MODEL gave no text: ASR_MODEL read it. Metrics count the next ones',
};
