/** Transcripts are made of events, the same way whether the call is live or stored. */
import type { CallPhase } from '../call-phase.ts';
import type { CallCounts } from '../call-view.ts';
import type { CaptionEvent, DtmfEvent, FeedEvent, GapEvent, RevisionEvent, SpokenEvent } from './events.ts';
import { type FinalCaption, inOrder, type PressedKeys, type TranscriptGap, type TranscriptItem } from './transcript.ts';

/** Keys that follow one another within this time are one item … */
const KEYS_APART_MS = 3000;
/** … of at most so many. */
const KEYS_MAX = 100;
/** Changes of state of which the builder knows when they were: captions come some seconds after them. */
const PHASES_MAX = 32;

/**
 * The transcript of one call, event by event. Beyond `itemsMax` items the oldest go, and what they covered is a gap.
 */
export class TranscriptBuilder {
  readonly #itemsMax: number;
  readonly #items: TranscriptItem[] = [];
  /** What had to go, by track. */
  readonly #forgotten = new Map<TranscriptItem['track'], TranscriptGap>();
  /** The latest changes of state, oldest first. */
  readonly #phases: { readonly phase: CallPhase; readonly atMs: number }[] = [];
  /** Who is heard on `outbound`, from when on, oldest first. */
  readonly #names: { readonly name: string | null; readonly atMs: number }[] = [];
  #counts = { finals: 0, spoken: 0, keys: 0, gaps: 0 };
  #dropped = 0;

  constructor(options: { readonly itemsMax: number }) {
    this.#itemsMax = options.itemsMax;
  }

  /** The items so far, in the order in which they came. */
  get items(): readonly TranscriptItem[] {
    return this.#forgotten.size === 0 ? this.#items : [...this.#forgotten.values(), ...this.#items];
  }

  /** How much there was, kept or not. */
  get counts(): CallCounts {
    return { ...this.#counts };
  }

  /** How many items had to go. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes note of an event of the call, in the order of their ids. Events that say nothing of it are passed over. */
  add(event: FeedEvent): void {
    switch (event.type) {
      case 'caption':
        if (event.final) this.#addFinal(this.#finalOf(event));
        return;
      case 'revision':
        this.#revise(event);
        return;
      case 'spoken':
        this.#addSpoken(event);
        return;
      case 'dtmf':
        this.#addKey(event);
        return;
      case 'gap':
        this.#addGap(event);
        return;
      case 'call.state':
        this.#change(event.state, event.atMs);
        return;
      case 'call.assigned':
        this.#names.push({ name: event.names.outbound, atMs: event.atMs });
        if (this.#names.length > PHASES_MAX) this.#names.shift();
        return;
      case 'call.ended':
        this.#change('live', event.durationMs);
        return;
      default:
        return;
    }
  }

  #finalOf(event: CaptionEvent) {
    const { track, utterance, text, startMs, endMs, confidence, lowConfidence, language, background } = event;
    return {
      kind: 'caption',
      track,
      utterance,
      text,
      startMs,
      endMs,
      ...(confidence !== undefined && { confidence }),
      ...(lowConfidence && { lowConfidence }),
      ...(language !== undefined && { language }),
      ...(background && { background }),
      ...this.#queuedMark(track, startMs),
      ...this.#nameMark(track, (startMs + endMs) / 2),
    } satisfies FinalCaption;
  }

  #queuedMark(track: TranscriptItem['track'], startMs: number): { readonly queued?: true } {
    const phase = this.#phases.findLast(({ atMs }) => atMs <= startMs)?.phase;
    return track === 'outbound' && phase === 'queued' ? { queued: true } : {};
  }

  /** `atMs` is in the middle of what is said: the one before may have been cut off, the next one has begun. */
  #nameMark(track: TranscriptItem['track'], atMs: number): { readonly name?: string } {
    const name = track === 'outbound' ? this.#names.findLast((each) => each.atMs <= atMs)?.name : null;
    return name == null ? {} : { name };
  }

  /** An empty final takes back what partials guessed: it is news, but no part of the transcript. */
  #addFinal(final: FinalCaption): void {
    if (final.text === '') return;
    this.#counts.finals++;
    this.#keep(final);
  }

  /** A later text takes the place of an earlier one; an empty one takes it out. */
  #revise({ track, utterance, version, text, startMs, endMs }: RevisionEvent): void {
    const mark = { ...this.#queuedMark(track, startMs), ...this.#nameMark(track, (startMs + endMs) / 2) };
    const revised: FinalCaption = { kind: 'caption', track, utterance, version, text, startMs, endMs, ...mark };
    const index = this.#items.findLastIndex((item) => isSame(item, revised));
    const before = this.#items[index];
    const language = before?.kind === 'caption' && before.language ? { language: before.language } : {};
    if (index === -1) this.#addFinal(revised);
    else if (text !== '') this.#items[index] = { ...revised, ...language };
    else {
      this.#items.splice(index, 1);
      this.#counts.finals--;
    }
  }

  #addSpoken({ utterance, text, heardText, interrupted, startMs, endMs }: SpokenEvent): void {
    this.#counts.spoken++;
    this.#keep({ kind: 'spoken', track: 'outbound', utterance, text, heardText, interrupted, startMs, endMs });
  }

  #addKey({ digit, atMs }: DtmfEvent): void {
    this.#counts.keys++;
    const index = this.#items.findLastIndex(({ kind }) => kind === 'dtmf');
    const last = this.#items[index] as PressedKeys | undefined;
    if (last !== undefined && atMs - last.endMs <= KEYS_APART_MS && last.digits.length < KEYS_MAX)
      this.#items[index] = { ...last, digits: last.digits + digit, endMs: atMs };
    else this.#keep({ kind: 'dtmf', track: 'inbound', digits: digit, startMs: atMs, endMs: atMs });
  }

  #addGap({ track, startMs, endMs, reason }: GapEvent): void {
    this.#counts.gaps++;
    this.#keep({ kind: 'gap', track, startMs, endMs, reason });
  }

  #change(phase: CallPhase, atMs: number): void {
    const before = this.#phases.at(-1);
    if (before?.phase === phase) return;
    if (before?.phase === 'held')
      this.#keep({ kind: 'gap', track: 'inbound', startMs: before.atMs, endMs: atMs, reason: 'held' });
    this.#phases.push({ phase, atMs });
    if (this.#phases.length > PHASES_MAX) this.#phases.shift();
  }

  #keep(item: TranscriptItem): void {
    this.#items.push(item);
    if (this.#items.length <= this.#itemsMax) return;
    const oldest = this.#items.shift();
    if (oldest === undefined) return;
    this.#dropped++;
    const { track, startMs, endMs } = oldest;
    const before = this.#forgotten.get(track);
    const gap = { kind: 'gap', track, reason: 'limit' } as const;
    this.#forgotten.set(track, {
      ...gap,
      startMs: Math.min(before?.startMs ?? startMs, startMs),
      endMs: Math.max(before?.endMs ?? endMs, endMs),
    });
  }
}

/** The transcript that a call's events make, in the order of its items' start. */
export function transcriptOf(events: Iterable<FeedEvent>): TranscriptItem[] {
  const builder = new TranscriptBuilder({ itemsMax: Number.POSITIVE_INFINITY });
  for (const event of events) builder.add(event);
  return inOrder(builder.items);
}

function isSame(item: TranscriptItem, { track, utterance }: FinalCaption): boolean {
  return item.kind === 'caption' && item.track === track && item.utterance === utterance;
}
