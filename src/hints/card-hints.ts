/** Shows the cards of HINTS_FILE beside the calls in which their words are said. */
import type { CaptionEvent, FeedEvent, RevisionEvent } from '../calls/feed/events.ts';
import type { Feed } from '../calls/feed/feed.ts';
import type { HintMetrics } from '../foundation/metrics/hint-metrics.ts';
import type { Track } from '../protocols/dialect.ts';
import type { CardDeck, FoundCard } from './card-deck.ts';

/** A phrase may begin in one of so many utterances before the one in which it ends. */
const BEFORE_MAX = 2;
/** Less of them is enough for a phrase. */
const BEFORE_MAX_CHARS = 200;
/** Utterances of a track that a revision may still change. */
const KEPT_MAX = 8;
/** Hints of one call: nobody reads more. */
const SHOWN_MAX = 200;

interface Said {
  readonly utterance: number;
  text: string;
}

/** One call, from its beginning to its end. */
interface WatchedCall {
  readonly said: Readonly<Record<Track, Said[]>>;
  /** By the title of its card, the utterance that brought it last. */
  readonly shown: Map<string, string>;
  hints: number;
}

interface CardHintsOptions {
  readonly feed: Pick<Feed, 'subscribeOwn' | 'publish'>;
  readonly deck: () => CardDeck;
  /** Whether a call is to have hints. */
  readonly wants: (callId: string) => boolean;
  readonly metrics: HintMetrics;
}

/** Reads the feed from its making on. */
export class CardHints {
  readonly #options: CardHintsOptions;
  readonly #calls = new Map<string, WatchedCall>();
  readonly #unsubscribe: () => void;

  constructor(options: CardHintsOptions) {
    this.#options = options;
    this.#unsubscribe = options.feed.subscribeOwn({}, ({ event }) => this.#take(event));
  }

  close(): void {
    this.#unsubscribe();
    this.#calls.clear();
  }

  #take(event: FeedEvent): void {
    const { type, callId } = event;
    if (type === 'caption' || type === 'revision') {
      const call = this.#calls.get(callId);
      if (call !== undefined && (type === 'revision' || isSpeakers(event))) this.#look(call, event);
    } else if (type === 'call.started') {
      if (this.#options.wants(callId))
        this.#calls.set(callId, { said: { inbound: [], outbound: [] }, shown: new Map(), hints: 0 });
    } else if (type === 'call.ended' || type === 'call.deleted') this.#calls.delete(callId);
  }

  #look(call: WatchedCall, event: CaptionEvent | RevisionEvent): void {
    const { track, utterance, text } = event;
    const before = remember(call.said[track], utterance, text);
    if (text === '') return;
    const whole = before === '' ? text : `${before} ${text}`;
    for (const found of this.#options.deck().find(whole, whole.length - text.length, track))
      this.#show(call, found, event);
  }

  #show(call: WatchedCall, { card, words }: FoundCard, event: CaptionEvent | RevisionEvent): void {
    const { callId, track, utterance, endMs } = event;
    const { title, text, link, once } = card;
    const by = `${track} ${utterance}`;
    const earlier = call.shown.get(title);
    if (earlier === by || (once && earlier !== undefined) || call.hints >= SHOWN_MAX) return;
    call.shown.set(title, by);
    call.hints++;
    const { feed, metrics } = this.#options;
    metrics.shown.inc({ source: 'card' });
    const hint = `card:${title}`;
    feed.publish({ type: 'hint', callId, hint, source: 'card', title, text, link, words, track, atMs: endMs });
  }
}

/** Puts `text` into its place, and returns what was said just before it. */
function remember(said: Said[], utterance: number, text: string): string {
  let at = said.findIndex((known) => known.utterance === utterance);
  const known = said[at];
  if (known !== undefined) known.text = text;
  else {
    at = said.push({ utterance, text }) - 1;
    if (said.length > KEPT_MAX) {
      said.shift();
      at--;
    }
  }
  const before = said.slice(Math.max(at - BEFORE_MAX, 0), at).map((earlier) => earlier.text);
  return before.join(' ').slice(-BEFORE_MAX_CHARS);
}

/** Whether it is what was said by whoever speaks into the phone, not behind him. */
function isSpeakers({ final, background }: CaptionEvent): boolean {
  return final && background !== true;
}
