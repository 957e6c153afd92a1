/**
 * What callers answered to the questions of a flow. The feed has told it before, as captions or as keys: it reads as
 * they do, also when they are given back or masked later.
 */
import type { FlowInputEvent } from '../../calls/feed/events.ts';
import { type CallRedactor, maskAlone } from './call-redactor.ts';
import type { Cue } from './cues.ts';

/** Answers of one call that may read differently later. */
const KEPT_MAX = 60;

/** An answer, and how it reads at any time. */
interface Kept {
  readonly event: FlowInputEvent;
  readonly cue: Cue | null;
  readonly read: () => string;
  shown: FlowInputEvent;
}

/** The answers of one call. */
export class FlowInputs {
  readonly #redactor: CallRedactor;
  readonly #kept = new Map<string, Kept>();

  constructor(redactor: CallRedactor) {
    this.#redactor = redactor;
  }

  /** What is told in place of `event`; `id` = how {@link changed} names it. */
  take(id: string, event: FlowInputEvent, nowMs: number): FlowInputEvent {
    const cue = this.#redactor.expectedOf('inbound', nowMs);
    const read = this.#reader(event, cue);
    const shown = this.#mask(event, read(), cue);
    this.#kept.set(id, { event, cue, read, shown });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return shown;
  }

  /** The answers that read differently since they were told last. */
  changed(): { id: string; event: FlowInputEvent }[] {
    return [...this.#kept].flatMap(([id, kept]) => {
      const event = this.#mask(kept.event, kept.read(), kept.cue);
      if (event.text === kept.shown.text && event.value === kept.shown.value) return [];
      kept.shown = event;
      return [{ id, event }];
    });
  }

  #reader({ kind, text }: FlowInputEvent, cue: Cue | null): () => string {
    const { keys, heard, patterns } = this.#redactor;
    if (text === null) return () => '';
    if (kind === 'speech') return heard.inbound.echo(text, cue);
    return keys.echo(text) ?? (() => maskAlone(text, patterns, cue));
  }

  #mask(event: FlowInputEvent, text: string, cue: Cue | null): FlowInputEvent {
    if (event.text === null) return { ...event, value: this.#maskValue(event, false, cue) };
    return { ...event, text, value: this.#maskValue(event, text !== event.text, cue) };
  }

  /** Digits of an answer that is masked are nowhere; the name of a choice has none. */
  #maskValue({ value, text }: FlowInputEvent, isMasked: boolean, cue: Cue | null): FlowInputEvent['value'] {
    if (value === null || typeof value === 'boolean') return value;
    const written = String(value);
    const masked = maskAlone(written, this.#redactor.patterns, cue);
    if (masked !== written) return masked;
    return isMasked && (/\d/.test(written) || written === text) ? null : value;
  }
}
