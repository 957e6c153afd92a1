/** Asks a language model for hints while people talk. No call waits for it. */
import type { FeedEvent } from '../calls/feed/events.ts';
import type { Feed } from '../calls/feed/feed.ts';
import { Backoff } from '../foundation/backoff.ts';
import { askChat, type ChatEndpoint } from '../foundation/chat-endpoint.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { HintMetrics } from '../foundation/metrics/hint-metrics.ts';
import { AskedCall } from './asked-call.ts';
import { questionOf, readHint } from './model-question.ts';

/** Calls that the model is asked about at the same time. */
const AT_ONCE_MAX = 16;
const ANSWER_MAX_BYTES = 65_536;
/** While the endpoint fails it is asked again after so long. */
const RETRIES = { firstMs: 5000, longestMs: 300_000, jitterShare: 0.2 };

interface ModelHintsOptions {
  readonly feed: Pick<Feed, 'subscribeOwn' | 'publish'>;
  readonly endpoint: ChatEndpoint;
  /** Utterances, and ms, between two questions about a call. */
  readonly everyUtterances: number;
  readonly intervalMs: number;
  /** What the model should know; empty = nothing. */
  readonly about: () => string;
  /** Whether a call is to have hints. */
  readonly wants: (callId: string) => boolean;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly metrics: HintMetrics;
}

/**
 * Reads the feed's finals, as they are given to {@link take}. A call that is due waits for a free place without
 * anything being kept for it: what is sent is what was said last when its turn comes.
 */
export class ModelHints {
  readonly #options: ModelHintsOptions;
  readonly #calls = new Map<string, AskedCall>();
  readonly #due = new Set<AskedCall>();
  readonly #asking = new Set<Promise<void>>();
  readonly #backoff: Backoff;
  #notBeforeMs = 0;
  #isFailing = false;

  constructor(options: ModelHintsOptions) {
    this.#options = options;
    this.#backoff = new Backoff(RETRIES);
  }

  /** Takes an event of the feed, redacted as what leaves this server must be. Never throws. */
  take(event: FeedEvent): void {
    const { type, callId } = event;
    if (type === 'call.started') {
      if (this.#options.wants(callId)) this.#calls.set(callId, new AskedCall(callId, event.app !== null));
      return;
    }
    const call = this.#calls.get(callId);
    if (call === undefined) return;
    if (type === 'call.ended' || type === 'call.deleted') this.#forget(call);
    else if (call.take(event)) this.#consider(call);
  }

  /** Gives up what is being asked. */
  async close(): Promise<void> {
    for (const call of [...this.#calls.values()]) this.#forget(call);
    await Promise.all(this.#asking);
  }

  #forget(call: AskedCall): void {
    this.#calls.delete(call.callId);
    this.#due.delete(call);
    call.end();
  }

  #consider(call: AskedCall): void {
    const { clock, everyUtterances, intervalMs } = this.#options;
    if (call.isDue(clock.nowMs(), everyUtterances, intervalMs)) this.#due.add(call);
    this.#askNext();
  }

  #askNext(): void {
    const { clock } = this.#options;
    for (const call of this.#due) {
      if (this.#asking.size >= AT_ONCE_MAX || clock.nowMs() < this.#notBeforeMs) return;
      this.#due.delete(call);
      const asking = this.#ask(call).finally(() => {
        this.#asking.delete(asking);
        this.#options.metrics.asking.set(this.#asking.size);
        this.#askNext();
      });
      this.#asking.add(asking);
      this.#options.metrics.asking.set(this.#asking.size);
    }
  }

  /** Never rejects. */
  async #ask(call: AskedCall): Promise<void> {
    const { clock, endpoint, about, metrics } = this.#options;
    const startedMs = clock.nowMs();
    const signal = call.begin(startedMs);
    const options = { clock, signal, answerMaxBytes: ANSWER_MAX_BYTES };
    const question = questionOf(about(), call.titles, call.talk.lines());
    const answer = await askChat(endpoint, question, options).catch(() => null);
    call.finish();
    if (answer === null || signal.aborted) {
      metrics.asked.inc({ outcome: 'dropped' });
      return;
    }
    if (!answer.ok) {
      metrics.asked.inc({ outcome: answer.failure });
      this.#noteFailure(answer.complaint);
      return;
    }
    metrics.askSeconds.observe((clock.nowMs() - startedMs) / 1000);
    this.#noteAnswer();
    metrics.asked.inc({ outcome: this.#show(call, answer.content) });
  }

  #show(call: AskedCall, content: string): 'hint' | 'nothing' | 'unusable' {
    const written = readHint(content);
    if (written === undefined) return 'unusable';
    if (written === null) return 'nothing';
    const { callId, atMs } = call;
    const { title, text } = written;
    const { feed, metrics } = this.#options;
    const hint = call.nameOf(title);
    metrics.shown.inc({ source: 'model' });
    const nothing = { link: null, words: null, track: null };
    feed.publish({ type: 'hint', callId, hint, source: 'model', title, text, atMs, ...nothing });
    return 'hint';
  }

  #noteFailure(reason: string): void {
    const { clock, log } = this.#options;
    this.#notBeforeMs = clock.nowMs() + this.#backoff.next();
    if (this.#isFailing) return;
    this.#isFailing = true;
    log.warn({ reason }, 'LLM_BASE_URL does not answer; it is asked less often until it does');
  }

  #noteAnswer(): void {
    this.#backoff.restart();
    this.#notBeforeMs = 0;
    if (this.#isFailing) this.#options.log.info('LLM_BASE_URL answers again');
    this.#isFailing = false;
  }
}
