/** What a transcript consists of: what was said on both sides, keys, and what is missing. */
import type { Track } from '../../protocols/dialect.ts';
import { echoSimilarity } from '../inbound/echo.ts';
import type { GapReason } from './events.ts';

/** One utterance as it was finally recognised; times in ms of the call's received audio. */
export interface FinalCaption {
  readonly kind: 'caption';
  readonly track: Track;
  /** Counts the track's utterances from 1. */
  readonly utterance: number;
  /** The version of its text, from 2 where a revision replaced that of the final caption. */
  readonly version?: number;
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** These three as in the final caption; gone with a revision. */
  readonly confidence?: number;
  readonly lowConfidence?: true;
  readonly language?: string | null;
  /** As in the final caption. */
  readonly background?: true;
  /** Of what a caller hears in a queue: prompts, not people. */
  readonly queued?: true;
  /** Who spoke, where the other side of the call changed. */
  readonly name?: string;
}

/** Something that we said, as in the event `spoken`. */
export interface SpokenItem {
  readonly kind: 'spoken';
  readonly track: 'outbound';
  /** As the API named it. */
  readonly utterance: string;
  readonly text: string;
  /** The beginning of `text` that was heard. */
  readonly heardText: string;
  readonly interrupted: boolean;
  readonly startMs: number;
  readonly endMs: number;
}

/** Keys that were pressed shortly after one another. */
export interface PressedKeys {
  readonly kind: 'dtmf';
  readonly track: 'inbound';
  readonly digits: string;
  /** Of the first and of the last key. */
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * A stretch of which the transcript has nothing, as a `gap` event told it; `limit`: there was something, more than is
 * kept; `held`: the far side held the call.
 */
export interface TranscriptGap {
  readonly kind: 'gap';
  readonly track: Track;
  readonly startMs: number;
  readonly endMs: number;
  readonly reason: GapReason | 'limit' | 'held';
}

/** One entry of a transcript. */
export type TranscriptItem = FinalCaption | SpokenItem | PressedKeys | TranscriptGap;

/** What was spoken may be heard on the track so much earlier or later than we know. */
const OWN_SPEECH_SHIFT_MS = 1500;
/** A caption is our own speech if so much of its words were spoken at its time. */
const OWN_SPEECH_SIMILARITY = 0.6;

/**
 * `items` in the order of their start. Where what the caller hears is captioned as well, captions of what we said
 * ourselves are left out: that has its own items, in its own words.
 */
export function inOrder(items: readonly TranscriptItem[]): TranscriptItem[] {
  const sorted = items.toSorted((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);
  const spoken = sorted.filter((item) => item.kind === 'spoken');
  if (spoken.length === 0) return sorted;
  return sorted.filter((item) => item.kind !== 'caption' || item.track !== 'outbound' || !repeats(item, spoken));
}

function repeats({ text, startMs, endMs }: FinalCaption, spoken: readonly SpokenItem[]): boolean {
  const near = spoken.filter(
    (item) => item.startMs - OWN_SPEECH_SHIFT_MS < endMs && startMs < item.endMs + OWN_SPEECH_SHIFT_MS,
  );
  return near.length > 0 && echoSimilarity(text, near.map((item) => item.text).join(' ')) >= OWN_SPEECH_SIMILARITY;
}
