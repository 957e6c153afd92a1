import type { Context } from '@opentelemetry/api';
import type { SpanMaker } from './span-maker.ts';

/** A turn that the app was told of; times on the clock. */
interface OpenTurn {
  /** When the caller's last final was out. */
  readonly finalMs: number;
  readonly promptMs: number;
  answerMs: number | null;
}

/** `answered` = the answer sounded; `unheard` = there was one that did not; `unanswered` = there was none. */
type Outcome = 'answered' | 'unheard' | 'unanswered';

/**
 * An app's turns in a call: `turn`, from the caller's last final to the first sound of the answer, and in it `hold`
 * (until the turn was over and the app was told), `app` (until its first words) and `voice` (until they sound).
 */
export class TurnSpans {
  readonly #maker: SpanMaker;
  readonly #parent: Context;
  readonly #callId: string;
  #finalMs: number | null = null;
  #turn: OpenTurn | null = null;

  constructor(maker: SpanMaker, { context, callId }: { readonly context: Context; readonly callId: string }) {
    this.#maker = maker;
    this.#parent = context;
    this.#callId = callId;
  }

  /** A final caption of the caller is out. */
  onFinal(): void {
    this.#finalMs = this.#maker.nowMs;
  }

  /** The app was told what the caller said. */
  onPrompt(): void {
    this.end();
    const promptMs = this.#maker.nowMs;
    this.#turn = { finalMs: this.#finalMs ?? promptMs, promptMs, answerMs: null };
  }

  /** The app says something; only the first time since the prompt counts. */
  onAnswer(): void {
    if (this.#turn !== null) this.#turn.answerMs ??= this.#maker.nowMs;
  }

  /** Something begins to sound: the answer, if there is one. */
  onSounding(): void {
    if (this.#turn !== null && this.#turn.answerMs !== null) this.#close('answered');
  }

  /** Nothing more comes of the turn that is open, if one is. */
  end(): void {
    if (this.#turn !== null) this.#close(this.#turn.answerMs === null ? 'unanswered' : 'unheard');
  }

  #close(outcome: Outcome): void {
    const turn = this.#turn;
    this.#turn = null;
    if (turn === null) return;
    const { finalMs, promptMs, answerMs } = turn;
    const endMs = this.#maker.nowMs;
    const attributes = { 'trunkline.call.id': this.#callId, 'trunkline.turn.outcome': outcome };
    const context = this.#maker.past(this.#parent, { name: 'turn', startMs: finalMs, endMs, attributes });
    this.#maker.past(context, { name: 'hold', startMs: finalMs, endMs: promptMs });
    this.#maker.past(context, { name: 'app', startMs: promptMs, endMs: answerMs ?? endMs, kind: 'client' });
    if (answerMs !== null) this.#maker.past(context, { name: 'voice', startMs: answerMs, endMs });
  }
}
