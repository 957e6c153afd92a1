/** Shows captions on a terminal: partial ones change in place, final ones stay. */
import type { CaptionEvent, GapEvent, RevisionEvent } from '../calls/feed/events.ts';
import type { Track } from '../protocols/dialect.ts';
import type { LiveLine, Output } from './terminal.ts';

/** The names of the two sides of a call. */
export const SPEAKERS: Readonly<Record<Track, string>> = { inbound: 'Caller', outbound: 'Agent' };

const SPEAKER_CHARS = Math.max(...Object.values(SPEAKERS).map((speaker) => speaker.length));

/**
 * Shows one call's captions on `out`: one live line for each track that speaks, its tail dim, and a line that stays for
 * each final.
 */
export class CaptionDisplay {
  readonly #out: Output;
  readonly #speaking = new Map<Track, LiveLine & { readonly utterance: number }>();

  constructor(out: Output) {
    this.#out = out;
  }

  show(caption: CaptionEvent): void {
    const { track, utterance, stable, tail, text, final } = caption;
    const head = speechHead(caption);
    if (!final) this.#speaking.set(track, { utterance, head, text: stable + tail, dimFrom: stable.length });
    else if (utterance >= (this.#speaking.get(track)?.utterance ?? 0)) this.#speaking.delete(track);
    this.#out.live([...this.#speaking.values()]);
    if (final) this.#out.line(head + text);
  }

  /** A line that stays, in place of words that are missing. */
  showGap(gap: GapEvent): void {
    this.#out.line(speechHead(gap) + missingWords(gap));
  }

  /** A line that stays, below the final that it replaces. */
  showRevision(revision: RevisionEvent): void {
    this.#out.line(this.#out.dim(speechHead(revision) + correctedWords(revision)));
  }

  /** Removes the live lines. */
  end(): void {
    this.#speaking.clear();
    this.#out.live([]);
  }
}

/** When and who, in columns: `0:04  Caller  `. */
export function speechHead({
  startMs,
  track,
}: Pick<CaptionEvent | GapEvent | RevisionEvent, 'startMs' | 'track'>): string {
  return head(startMs, SPEAKERS[track]);
}

/** The same for what an app said, `atMs` of the call. */
export function appHead(atMs: number): string {
  return head(atMs, 'App');
}

/** The text in place of words without a caption: `[missing until 0:09: overload]`. */
export function missingWords({ endMs, reason }: Pick<GapEvent, 'endMs' | 'reason'>): string {
  return `[missing until ${shortTime(endMs)}: ${reason}]`;
}

/** The text of a revision, told apart from a final's. */
export function correctedWords({ text }: Pick<RevisionEvent, 'text'>): string {
  return text === '' ? '(corrected: nothing was said)' : `(corrected) ${text}`;
}

/** Minutes and seconds: `0:04`. */
export function shortTime(atMs: number): string {
  const seconds = Math.floor(atMs / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function head(atMs: number, speaker: string): string {
  return `${shortTime(atMs).padStart(6)}  ${speaker.padEnd(SPEAKER_CHARS)}  `;
}
