import type { FeedEvent } from '../calls/feed/events.ts';
import { Talk } from './talk.ts';

/** Hints that a model gives in one call at most. */
const HINTS_MAX = 50;

/** A call that a language model may be asked about. */
export class AskedCall {
  readonly callId: string;
  readonly talk = new Talk();
  /** How far the call has come, as its captions count. */
  atMs = 0;
  /** Its app talks to the caller by itself, so that nobody needs hints. */
  #isWithApp: boolean;
  #utterances = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #asking: AbortController | null = null;
  /** By title in small letters. */
  readonly #names = new Map<string, { readonly hint: string; readonly title: string }>();

  constructor(callId: string, isWithApp: boolean) {
    this.callId = callId;
    this.#isWithApp = isWithApp;
  }

  /** The titles of its hints so far. */
  get titles(): string[] {
    return [...this.#names.values()].map(({ title }) => title);
  }

  /** Whether somebody said something new. */
  take(event: FeedEvent): boolean {
    switch (event.type) {
      case 'caption':
      case 'revision':
        return this.#takeCaption(event);
      case 'spoken':
        this.talk.put(`spoken ${event.utterance}`, 'agent', event.startMs, event.heardText);
        return false;
      case 'app.muted':
      case 'app.unmuted':
        this.#isWithApp = event.type === 'app.unmuted';
        return false;
      default:
        return false;
    }
  }

  /** Whether enough was said, `everyUtterances` and for `intervalMs`, since the model was asked last. */
  isDue(nowMs: number, everyUtterances: number, intervalMs: number): boolean {
    if (this.#isWithApp || this.#asking !== null || this.#names.size >= HINTS_MAX) return false;
    return this.#utterances >= everyUtterances && nowMs - this.#askedAtMs >= intervalMs;
  }

  /** The model is being asked. The signal aborts at the end of the call. */
  begin(nowMs: number): AbortSignal {
    this.#utterances = 0;
    this.#askedAtMs = nowMs;
    this.#asking = new AbortController();
    return this.#asking.signal;
  }

  /** The model was asked. */
  finish(): void {
    this.#asking = null;
  }

  end(): void {
    this.#asking?.abort();
  }

  /** The name of a hint with this title: the same title again has the same name. */
  nameOf(title: string): string {
    const key = title.toLowerCase();
    const known = this.#names.get(key) ?? { hint: `model:${this.#names.size + 1}`, title };
    this.#names.set(key, known);
    return known.hint;
  }

  #takeCaption(event: Extract<FeedEvent, { type: 'caption' | 'revision' }>): boolean {
    if (event.type === 'caption' && !event.final) return false;
    const { track, utterance, text, startMs, endMs } = event;
    this.talk.put(`${track} ${utterance}`, track === 'inbound' ? 'caller' : 'agent', startMs, text);
    this.atMs = Math.max(this.atMs, endMs);
    if (event.type === 'revision' || text === '') return false;
    this.#utterances++;
    return true;
  }
}
