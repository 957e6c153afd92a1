/**
 * One call as readers see it when the feed is redacted: nothing that was published is taken back. What may be part of a
 * number is masked or left out until it is certain; a revision gives it back.
 */
import type { CaptionEvent, DtmfEvent, FeedEvent, RevisionEvent, SpokenEvent } from '../../calls/feed/events.ts';
import type { Track } from '../../protocols/dialect.ts';
import { CallRedactor, maskWritten, withSpokenText, withText } from './call-redactor.ts';
import { FlowInputs } from './flow-inputs.ts';
import { MASKED_KEY } from './key-runs.ts';
import type { OwnPatterns } from './own-patterns.ts';
import { showPartial } from './partial-text.ts';
import type { MaskedText } from './speaker-text.ts';

const TRACKS = ['inbound', 'outbound'] as const;
/** Utterances whose captions may be revised. */
const KEPT_MAX = 120;

/** An utterance of a track as readers know it. */
interface Published {
  text: string;
  version: number;
  readonly startMs: number;
  readonly endMs: number;
}

export class LiveCall {
  readonly #callId: string;
  readonly #redactor: CallRedactor;
  readonly #published: Readonly<Record<Track, Map<number, Published>>> = { inbound: new Map(), outbound: new Map() };
  /** The stable text of the utterance that is being spoken. */
  readonly #stable: Record<Track, { utterance: number; text: string }> = {
    inbound: { utterance: 0, text: '' },
    outbound: { utterance: 0, text: '' },
  };
  readonly #inputs: FlowInputs;
  #keys = 0;

  constructor(callId: string, patterns: OwnPatterns) {
    this.#callId = callId;
    this.#redactor = new CallRedactor(patterns, false);
    this.#inputs = new FlowInputs(this.#redactor);
  }

  /** Something is masked that may be given back. */
  get isHolding(): boolean {
    return this.#redactor.isHolding;
  }

  /** What is published in place of `event`. */
  take(event: FeedEvent, nowMs: number): FeedEvent[] {
    switch (event.type) {
      case 'caption':
        return event.final ? this.#takeFinal(event, nowMs) : [this.#takePartial(event, nowMs)];
      case 'revision':
        return this.#takeRevision(event, nowMs);
      case 'spoken':
        return [this.#takeSpoken(event, nowMs)];
      case 'dtmf':
        return [this.#takeKey(event, nowMs)];
      case 'flow.input':
        // What is masked stays masked: no event gives an answer back.
        return [this.#inputs.take('', event, nowMs)];
      case 'call.ended':
        return [...this.#release(), maskWritten(event, this.#redactor.patterns)];
      default:
        return [maskWritten(event, this.#redactor.patterns)];
    }
  }

  /** The revisions that give back what was masked for too long without becoming a number. */
  settle(nowMs: number): FeedEvent[] {
    this.#redactor.keys.settle(nowMs);
    return TRACKS.flatMap((track) => this.#revise(track, this.#redactor.heard[track].settle(nowMs)));
  }

  #takePartial(event: CaptionEvent, nowMs: number): CaptionEvent {
    const { track, utterance, text } = event;
    const cue = this.#redactor.expectedOf(track, nowMs);
    const { texts, cue: known } = this.#redactor.heard[track].before(String(utterance), cue, nowMs);
    const stableChars = text.startsWith(event.stable) ? event.stable.length : 0;
    const { patterns } = this.#redactor;
    const { stable, tail } = showPartial({ text, stableChars, before: texts, cue: known, patterns });
    const promised = this.#promised(track, utterance);
    const whole = stable + tail;
    // A word that was shown may turn out to belong to what is left out now.
    const kept = stable.startsWith(promised) ? stable : promised;
    const rest = whole.startsWith(kept) ? whole.slice(kept.length) : '';
    this.#stable[track] = { utterance, text: kept };
    return { ...event, stable: kept, tail: rest, text: kept + rest };
  }

  #takeFinal(event: CaptionEvent, nowMs: number): FeedEvent[] {
    const { track, utterance, startMs, endMs } = event;
    const [own, ...others] = this.#put(event, nowMs);
    const text = own?.text ?? '';
    this.#remember(track, utterance, { text, version: 1, startMs, endMs });
    const final = withText(event, text, this.#promised(track, utterance));
    return [final, ...this.#revise(track, others)];
  }

  #takeRevision(event: RevisionEvent, nowMs: number): FeedEvent[] {
    const { track, utterance } = event;
    const known = this.#published[track].get(utterance);
    const [own, ...others] = this.#put(event, nowMs);
    const text = own?.text ?? '';
    if (known === undefined) return [{ ...event, text }, ...this.#revise(track, others)];
    return [...this.#revise(track, [{ utterance: String(utterance), text }]), ...this.#revise(track, others)];
  }

  #put(event: CaptionEvent | RevisionEvent, nowMs: number): MaskedText[] {
    const { track, utterance, text } = event;
    const changed = this.#redactor.heard[track].put(
      String(utterance),
      text,
      this.#redactor.expectedOf(track, nowMs),
      nowMs,
    );
    this.#redactor.noteSaid(track, text, nowMs);
    return changed;
  }

  #takeSpoken(event: SpokenEvent, nowMs: number): SpokenEvent {
    const cue = this.#redactor.expectedOf('outbound', nowMs);
    const [own] = this.#redactor.spoken.put(event.utterance, event.text, cue, nowMs);
    this.#redactor.noteSaid('outbound', event.text, nowMs);
    return withSpokenText(event, own?.text ?? '');
  }

  /** What is masked stays masked: no event gives a key back. */
  #takeKey(event: DtmfEvent, nowMs: number): DtmfEvent {
    const cue = this.#redactor.expectedOf('inbound', nowMs);
    const { isMasked } = this.#redactor.keys.press(String(++this.#keys), event.digit, cue, nowMs);
    return isMasked ? { ...event, digit: MASKED_KEY } : event;
  }

  #release(): FeedEvent[] {
    return TRACKS.flatMap((track) => this.#revise(track, this.#redactor.heard[track].release()));
  }

  #revise(track: Track, changed: readonly MaskedText[]): RevisionEvent[] {
    return changed.flatMap(({ utterance: name, text }) => {
      const utterance = Number(name);
      const known = this.#published[track].get(utterance);
      if (known === undefined || known.text === text) return [];
      known.text = text;
      known.version++;
      const { version, startMs, endMs } = known;
      return [{ type: 'revision', callId: this.#callId, track, utterance, version, text, startMs, endMs } as const];
    });
  }

  #promised(track: Track, utterance: number): string {
    const { utterance: spoken, text } = this.#stable[track];
    return spoken === utterance ? text : '';
  }

  #remember(track: Track, utterance: number, published: Published): void {
    const known = this.#published[track];
    known.set(utterance, published);
    const [oldest] = known.keys();
    if (known.size > KEPT_MAX && oldest !== undefined) known.delete(oldest);
  }
}
