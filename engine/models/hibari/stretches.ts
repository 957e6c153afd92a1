/**
 * How a line is divided into runs of the graph. A short line is one run: nothing is better than to read it whole. A
 * long one is cut between clauses, the first run being short, so that its sound leaves soon and no run takes long.
 */
import type { Clause } from './phonemes/clauses.ts';

/** A run of the graph, and the silence to the next one. */
export interface Stretch {
  readonly phonemes: string;
  /** Ms at speed 1, from the last audible sample to the first of the next stretch. */
  readonly pauseMs: number;
}

/** About four seconds: longer lines are cut. */
const WHOLE_MAX_PHONEMES = 60;
/** About a second: less has no melody of its own. */
const FIRST_MIN_PHONEMES = 15;
const LAST_MIN_PHONEMES = 10;
/**
 * A clause that is longer is cut between two words. The whole of a long one is a run of 100 ms, and of 350 at a quarter
 * of the speed, with 70 and 190 MB of spectra.
 */
const CLAUSE_MAX_PHONEMES = 100;

/**
 * Pauses as the voice makes them where it reads over them in one run: medians of 60 lines with a comma, of 10 with one
 * of `;:—`, and of 21 with two sentences.
 */
const COMMA_PAUSE_MS = 270;
const COLON_PAUSE_MS = 200;
const STOP_PAUSE_MS = 360;
const BREATH_MS = 60;

/**
 * The longest clause that is read at once at `speed`: slow speech takes as much longer to make. It is never cut where a
 * line would not be.
 */
export function maxPhonemesOf(speed: number): number {
  return Math.max(Math.ceil(CLAUSE_MAX_PHONEMES * Math.min(speed, 1)), WHOLE_MAX_PHONEMES);
}

/** The runs of a line, in order. */
export function planStretches(clauses: readonly Clause[]): Stretch[] {
  const whole = clauses.map(({ phonemes }) => phonemes).join('');
  if (!/\p{L}/u.test(whole)) return [];
  if (whole.length <= WHOLE_MAX_PHONEMES) return [stretchOf(whole)];
  const runs: string[] = [];
  let current = '';
  let left = whole.length;
  for (const { phonemes } of clauses) {
    const isEnough = runs.length === 0 || current.length + phonemes.length > WHOLE_MAX_PHONEMES;
    if (isEnough && current.length >= FIRST_MIN_PHONEMES && left >= LAST_MIN_PHONEMES) {
      runs.push(current);
      current = '';
    }
    current += phonemes;
    left -= phonemes.length;
  }
  return [...runs, current].map(stretchOf);
}

function stretchOf(phonemes: string): Stretch {
  const trimmed = phonemes.trim();
  return { phonemes: trimmed, pauseMs: pauseBehind(trimmed) };
}

function pauseBehind(phonemes: string): number {
  if (/[.?!…]["”)]*$/.test(phonemes)) return STOP_PAUSE_MS;
  if (/[;:—]["”)]*$/.test(phonemes)) return COLON_PAUSE_MS;
  return /,["”)]*$/.test(phonemes) ? COMMA_PAUSE_MS : BREATH_MS;
}
