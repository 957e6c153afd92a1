/**
 * One call as it is stored when readers see it unredacted: what may be part of a number is stored masked, and the
 * stored text is written again when it turns out what it was.
 */
import type { CaptionEvent, DtmfEvent, FeedEvent, RevisionEvent, SpokenEvent } from '../../calls/feed/events.ts';
import { CallRedactor, maskWritten, withSpokenText, withText } from './call-redactor.ts';
import { FlowInputs } from './flow-inputs.ts';
import { type KeyChange, MASKED_KEY } from './key-runs.ts';
import type { OwnPatterns } from './own-patterns.ts';
import type { MaskedText, SpeakerText } from './speaker-text.ts';

/** A stored event whose content is another one now. */
export interface Rewrite {
  /** The event's id in the feed. */
  readonly id: string;
  readonly event: FeedEvent;
}

/** What is stored of an event, and what changes of earlier ones. */
export interface StoredRedaction {
  readonly event: FeedEvent;
  readonly rewrites: readonly Rewrite[];
}

type Text = CaptionEvent | RevisionEvent | SpokenEvent;

interface Kept {
  readonly id: string;
  /** As it was said. */
  readonly event: Text;
}

/** Texts of one stream that may have to be written again. */
const KEPT_MAX = 120;

export class StoredCall {
  readonly #redactor: CallRedactor;
  readonly #texts = new Map<SpeakerText, Kept[]>();
  readonly #keys = new Map<string, DtmfEvent>();
  readonly #inputs: FlowInputs;

  constructor(patterns: OwnPatterns) {
    this.#redactor = new CallRedactor(patterns, true);
    this.#inputs = new FlowInputs(this.#redactor);
  }

  /** Something is masked that may be given back. */
  get isHolding(): boolean {
    return this.#redactor.isHolding;
  }

  /** What is stored of `event`, whose id in the feed is `id`. */
  take(id: string, event: FeedEvent, nowMs: number): StoredRedaction {
    const { event: stored, rewrites } = this.#take(id, event, nowMs);
    return { event: stored, rewrites: [...rewrites, ...this.#inputs.changed()] };
  }

  #take(id: string, event: FeedEvent, nowMs: number): StoredRedaction {
    switch (event.type) {
      case 'caption':
      case 'revision':
        return this.#takeText(this.#redactor.heard[event.track], id, event, nowMs);
      case 'spoken':
        return this.#takeText(this.#redactor.spoken, id, event, nowMs);
      case 'dtmf':
        return this.#takeKey(id, event, nowMs);
      case 'flow.input':
        return { event: this.#inputs.take(id, event, nowMs), rewrites: [] };
      case 'call.ended':
        return { event: maskWritten(event, this.#redactor.patterns), rewrites: this.#release() };
      default:
        return { event: maskWritten(event, this.#redactor.patterns), rewrites: [] };
    }
  }

  /** Gives back what was masked for too long without becoming a number. */
  settle(nowMs: number): Rewrite[] {
    const { heard, spoken, keys } = this.#redactor;
    const texts = [heard.inbound, heard.outbound, spoken].flatMap((stream) =>
      this.#rewriteTexts(stream, stream.settle(nowMs)),
    );
    return [...texts, ...this.#rewriteKeys(keys.settle(nowMs)), ...this.#inputs.changed()];
  }

  #takeText(stream: SpeakerText, id: string, event: Text, nowMs: number): StoredRedaction {
    const side = event.type === 'spoken' ? 'outbound' : event.track;
    const name = String(event.utterance);
    const cue = this.#redactor.expectedOf(side, nowMs);
    const [own, ...others] = stream.put(name, event.text, cue, nowMs);
    this.#redactor.noteSaid(side, event.text, nowMs);
    const kept = this.#texts.get(stream) ?? [];
    const earlier = kept.filter((known) => String(known.event.utterance) === name);
    kept.push({ id, event });
    this.#texts.set(stream, kept.slice(-KEPT_MAX));
    const rewrites = [
      ...earlier.map((known) => ({
        id: known.id,
        event: masked(known.event, stream.maskVersion(name, known.event.text)),
      })),
      ...this.#rewriteTexts(stream, others),
    ];
    return { event: masked(event, own?.text ?? ''), rewrites };
  }

  #takeKey(id: string, event: DtmfEvent, nowMs: number): StoredRedaction {
    const cue = this.#redactor.expectedOf('inbound', nowMs);
    const { isMasked, changes } = this.#redactor.keys.press(id, event.digit, cue, nowMs);
    this.#keys.set(id, event);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > KEPT_MAX && oldest !== undefined) this.#keys.delete(oldest);
    const rewrites = this.#rewriteKeys(changes);
    return { event: isMasked ? { ...event, digit: MASKED_KEY } : event, rewrites };
  }

  #release(): Rewrite[] {
    const { heard, spoken, keys } = this.#redactor;
    const texts = [heard.inbound, heard.outbound, spoken].flatMap((stream) =>
      this.#rewriteTexts(stream, stream.release()),
    );
    return [...texts, ...this.#rewriteKeys(keys.release())];
  }

  /** All versions of texts that read differently now. */
  #rewriteTexts(stream: SpeakerText, changed: readonly MaskedText[]): Rewrite[] {
    const names = new Set(changed.map(({ utterance }) => utterance));
    return (this.#texts.get(stream) ?? [])
      .filter(({ event }) => names.has(String(event.utterance)))
      .map(({ id, event }) => {
        const text = stream.maskVersion(String(event.utterance), event.text);
        return { id, event: masked(event, text) };
      });
  }

  #rewriteKeys(changes: readonly KeyChange[]): Rewrite[] {
    return changes.flatMap(({ name, isMasked }) => {
      const event = this.#keys.get(name);
      return event === undefined ? [] : [{ id: name, event: isMasked ? { ...event, digit: MASKED_KEY } : event }];
    });
  }
}

function masked(event: Text, text: string): FeedEvent {
  return event.type === 'spoken' ? withSpokenText(event, text) : withText(event, text);
}
