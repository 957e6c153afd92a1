/**
 * Makes the events of a Realtime session of what our recogniser tells: `speech_started`, `speech_stopped`,
 * `committed`, the item, its `delta`s and `completed`, in that order. A delta is the growth of what is certain, so
 * nothing that was sent is ever taken back; `completed` has the best text, which may differ from its deltas.
 */
import type { Conversation, MessageItem } from './items.ts';
import {
  committed,
  itemEvent,
  type ServerEvent,
  speechStarted,
  speechStopped,
  transcriptCompleted,
  transcriptDelta,
  transcriptFailed,
} from './server-events.ts';

/** A caption of the recogniser, as far as it matters here. Times are ms of the session's sound. */
export interface HeardText {
  readonly utterance: number;
  /** Words that will not change, from the beginning of the utterance. */
  readonly stable: string;
  readonly text: string;
  readonly final: boolean;
  readonly startMs: number;
  readonly endMs: number;
}

/** What somebody said, as one item; `text` is empty where there were no words. */
export interface FinishedItem {
  readonly itemId: string;
  readonly text: string;
}

interface TranscriptsOptions {
  readonly conversation: Conversation;
  readonly newItemId: () => string;
  readonly send: (event: ServerEvent) => void;
  /** An item has its text. */
  readonly onFinished: (item: FinishedItem) => void;
}

/**
 * What makes an item of what was said: the silence behind an utterance, the end of a turn, which may have several, or
 * only a commit of the client.
 */
export type ItemEnd = 'silence' | 'turn' | 'commit';

/** What is said between two ends. */
interface OpenItem {
  readonly id: string;
  readonly startMs: number;
  endMs: number;
  /** The utterance that it is; null = not known, or several. */
  utterance: number | null;
  /** Finals, and what was sent of the utterance that is not final. */
  readonly finals: string[];
  sent: string;
}

/** Items without a text that may wait for theirs. */
const WAITING_MAX = 64;

/** One session's. */
export class Transcripts {
  readonly #options: TranscriptsOptions;
  #end: ItemEnd = 'silence';
  #prefixMs = 0;
  #areTextsWanted = true;
  /** What is being said. */
  #open: OpenItem | null = null;
  /** Committed, and without a text yet. */
  #waiting: OpenItem[] = [];
  /** Commits whose finals are not all told: the item of each, null = what it ends is not known. */
  readonly #commits: (OpenItem | null)[] = [];
  /** An item was finished while a commit waited for its finals. */
  #endedSinceCommit = false;

  constructor(options: TranscriptsOptions) {
    this.#options = options;
  }

  /**
   * From the next item on.
   * @param prefixMs how far before the speech a client is told that it began
   * @param areTextsWanted whether texts are sent at all
   */
  configure(wanted: { readonly end: ItemEnd; readonly prefixMs: number; readonly areTextsWanted: boolean }): void {
    this.#end = wanted.end;
    this.#prefixMs = wanted.prefixMs;
    this.#areTextsWanted = wanted.areTextsWanted;
  }

  speechStarted(atMs: number): void {
    if (this.#end === 'silence' || this.#open === null) this.#openAt(atMs);
  }

  speechStopped(atMs: number): void {
    if (this.#open === null) return;
    this.#open.endMs = Math.max(atMs, this.#open.endMs);
    if (this.#end === 'silence') this.#stop(this.#open);
  }

  /** A turn is over, and all its finals have been told. */
  turnEnded(atMs: number): void {
    const item = this.#open;
    if (item === null || this.#end !== 'turn') return;
    item.endMs = Math.max(item.endMs, atMs);
    this.#stop(item);
    this.#complete(item);
  }

  caption(caption: HeardText): void {
    const item = this.#itemOf(caption);
    this.#sendGrowth(item, caption);
    if (!caption.final) return;
    item.endMs = Math.max(item.endMs, caption.endMs);
    item.finals.push(caption.text);
    item.sent = '';
    if (this.#goesOn(item)) return;
    if (item === this.#open) this.#stop(item);
    this.#complete(item);
  }

  /** What began at `startMs` has no words: it was a noise. */
  wordless(startMs: number): void {
    const isNoise = (item: OpenItem | null): item is OpenItem =>
      item?.startMs === startMs && item.utterance === null && item.finals.length === 0 && item.sent === '';
    const open = this.#open;
    // Only a turn may be open still when its text is known.
    if (this.#end === 'turn' && isNoise(open)) this.#stop(open);
    const item = this.#waiting.find(isNoise);
    if (item !== undefined) this.#complete(item);
  }

  /** No text comes of this stretch. */
  gap(startMs: number, endMs: number): void {
    if (this.#end === 'commit') return;
    const { send } = this.#options;
    for (const item of this.#waiting.filter((each) => each.startMs < endMs && each.endMs > startMs)) {
      this.#waiting.splice(this.#waiting.indexOf(item), 1);
      if (this.#areTextsWanted) send(transcriptFailed(item.id, 'what was said could not be transcribed'));
    }
  }

  /** The client ends what was said so far. {@link flushed} is to follow when its finals have been told. */
  commit(atMs: number): void {
    if (this.#end !== 'commit') {
      this.#commits.push(null);
      return;
    }
    const item = this.#open ?? this.#newItem(atMs);
    item.endMs = Math.max(item.endMs, atMs);
    this.#open = item;
    this.#commits.push(item);
    this.#commitItem(item);
  }

  /** All that was said before the oldest open commit has been told. */
  flushed(atMs: number): void {
    const item = this.#commits.shift();
    if (item === undefined) return;
    if (item !== null) {
      this.#complete(item);
      return;
    }
    // A commit that ended nothing is answered all the same, with an item without words: its client waits for one.
    const isAnswered = this.#waiting.length > 0 || this.#open !== null || this.#endedSinceCommit;
    if (this.#open !== null) this.#stopAt(this.#open, atMs);
    if (isAnswered) this.#completeWaiting();
    else this.#completeNothing(atMs);
    this.#endedSinceCommit = false;
  }

  /** All that was said has been told, and no more follows: what nobody has committed becomes an item, too. */
  finish(atMs: number): void {
    const item = this.#open;
    this.#completeWaiting();
    if (item === null) return;
    item.endMs = Math.max(item.endMs, atMs);
    if (this.#end !== 'commit') this.#options.send(speechStopped(item.id, item.endMs));
    this.#commitItem(item);
    this.#tell(item);
  }

  /** What was said and is not final is dropped. */
  cleared(): void {
    this.#open = null;
    this.#completeWaiting();
  }

  /** Whoever commits knows where speech begins. */
  #openAt(atMs: number): OpenItem {
    if (this.#open !== null) this.#stopAt(this.#open, atMs);
    const item = this.#newItem(atMs);
    this.#open = item;
    if (this.#end !== 'commit') this.#options.send(speechStarted(item.id, Math.max(atMs - this.#prefixMs, 0)));
    return item;
  }

  #newItem(atMs: number): OpenItem {
    return { id: this.#options.newItemId(), startMs: atMs, endMs: atMs, utterance: null, finals: [], sent: '' };
  }

  /**
   * An utterance is told of by the time at which it began. Long speech is cut into utterances, and only the first one
   * of them is told of when it begins.
   */
  #itemOf(caption: HeardText): OpenItem {
    const committing = this.#commits[0];
    if (committing !== undefined && committing !== null) return committing;
    if (this.#end !== 'silence') return this.#open ?? this.#openAt(caption.startMs);
    const { utterance, startMs } = caption;
    const known = [...this.#waiting, this.#open].find((item) => item?.utterance === utterance);
    if (known) return known;
    const begun = [...this.#waiting, this.#open].find((item) => item?.utterance === null && item.startMs === startMs);
    const item = begun ?? this.#openAt(startMs);
    item.utterance = utterance;
    return item;
  }

  /** Whether more may be said before the item is whole. */
  #goesOn(item: OpenItem): boolean {
    return this.#commits.includes(item) || (item === this.#open && this.#end !== 'silence');
  }

  /** Sends what `caption` adds to what is certain; in a final what is left of its text, where that fits. */
  #sendGrowth(item: OpenItem, { stable, text, final }: HeardText): void {
    const certain = final ? text : stable;
    if (!certain.startsWith(item.sent) || certain.length === item.sent.length) return;
    const growth = certain.slice(item.sent.length);
    const parts = item.sent === '' && item.finals.some((each) => each !== '');
    item.sent = certain;
    if (this.#areTextsWanted) this.#options.send(transcriptDelta(item.id, parts ? ` ${growth}` : growth));
  }

  #stopAt(item: OpenItem, atMs: number): void {
    item.endMs = Math.max(item.endMs, atMs);
    this.#stop(item);
  }

  #stop(item: OpenItem): void {
    this.#open = null;
    this.#options.send(speechStopped(item.id, item.endMs));
    this.#commitItem(item);
    this.#waiting.push(item);
    if (this.#waiting.length > WAITING_MAX) this.#complete(this.#waiting[0] as OpenItem);
  }

  #commitItem(item: OpenItem): void {
    if (item === this.#open) this.#open = null;
    const { conversation, send } = this.#options;
    const message: MessageItem = {
      type: 'message',
      id: item.id,
      status: 'completed',
      role: 'user',
      content: [{ type: 'input_audio', transcript: null }],
    };
    const previousId = conversation.add(message);
    send(committed(item.id, previousId));
    send(itemEvent('added', message, previousId));
    send(itemEvent('done', message, previousId));
  }

  /** Finals come in order: what began before and has none has no words. */
  #complete(item: OpenItem): void {
    while (this.#waiting.length > 0 && this.#waiting[0] !== item && this.#waiting.includes(item))
      this.#tell(this.#waiting.shift() as OpenItem);
    this.#waiting = this.#waiting.filter((each) => each !== item);
    this.#endedSinceCommit ||= this.#commits.length > 0;
    this.#tell(item);
  }

  #completeWaiting(): void {
    for (const item of this.#waiting.splice(0)) this.#tell(item);
  }

  #completeNothing(atMs: number): void {
    const item = this.#newItem(atMs);
    this.#commitItem(item);
    this.#tell(item);
  }

  #tell({ id, startMs, endMs, finals }: OpenItem): void {
    const { conversation, send, onFinished } = this.#options;
    const text = finals.filter((each) => each !== '').join(' ');
    const item = conversation.get(id);
    if (item?.type === 'message')
      conversation.replace({ ...item, content: [{ type: 'input_audio', transcript: text }] });
    if (this.#areTextsWanted) send(transcriptCompleted(id, text, endMs - startMs));
    onFinished({ itemId: id, text });
  }
}
