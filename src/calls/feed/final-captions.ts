import type { FinalCaption, TranscriptGap, TranscriptItem } from './transcript.ts';

/** Finals and gaps kept for one call, some seven hours of talk. */
const ITEMS_MAX = 5000;

/**
 * A call's final captions as they came, each with its latest text, and what is missing among them. Beyond {@link
 * ITEMS_MAX} the oldest go, and what they covered is a gap.
 */
export class FinalCaptions {
  readonly #kept: TranscriptItem[] = [];
  /** What had to go, by track. */
  readonly #forgotten = new Map<TranscriptItem['track'], TranscriptGap>();
  #captions = 0;
  #gaps = 0;
  #dropped = 0;

  /** Those that are kept, oldest first. */
  get kept(): readonly TranscriptItem[] {
    return this.#forgotten.size === 0 ? this.#kept : [...this.#forgotten.values(), ...this.#kept];
  }

  /** How many final captions there were. */
  get captions(): number {
    return this.#captions;
  }

  /** How many gaps there were. */
  get gaps(): number {
    return this.#gaps;
  }

  /** How many captions and gaps had to go. */
  get dropped(): number {
    return this.#dropped;
  }

  /** An empty final takes back what partials guessed: it is news, but no part of the transcript. */
  add(final: FinalCaption): void {
    if (final.text === '') return;
    this.#captions++;
    this.#keep(final);
  }

  /** A later text takes the place of an earlier one; an empty one takes it out. */
  revise(revised: FinalCaption): void {
    const index = this.#kept.findLastIndex((item) => isSame(item, revised));
    if (index === -1) this.add(revised);
    else if (revised.text !== '') this.#kept[index] = revised;
    else {
      this.#kept.splice(index, 1);
      this.#captions--;
    }
  }

  /** A stretch of which no final comes. */
  addGap(gap: TranscriptGap): void {
    this.#gaps++;
    this.#keep(gap);
  }

  #keep(item: TranscriptItem): void {
    this.#kept.push(item);
    if (this.#kept.length <= ITEMS_MAX) return;
    const oldest = this.#kept.shift();
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

function isSame(item: TranscriptItem, { track, utterance }: FinalCaption): boolean {
  return item.kind === 'caption' && item.track === track && item.utterance === utterance;
}
