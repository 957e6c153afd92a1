/**
 * When the turn of a speaker is over: how much silence ends it, by what a turn model says of its sound, by its words,
 * and by what is expected. Pure; the figures behind it are in docs/internals/decisions.
 */
import type { Settings } from '../foundation/settings/settings.ts';
import { grammarHold } from './open-ended.ts';
import { spokenDigits } from './spoken-digits.ts';

export type TurnSettings = Pick<
  Settings,
  'ENDPOINT_MS' | 'TURN_HOLD_BELOW' | 'TURN_HOLD_MS' | 'TURN_EARLY_ABOVE' | 'TURN_DIGITS_MS'
>;

/** An answer of digits is expected, dictated in groups perhaps. */
export interface DigitsExpected {
  /** Fewer are no whole answer. */
  readonly min?: number | undefined;
  /** With so many the answer is whole. */
  readonly max?: number | undefined;
}

/** What is known of a turn in a pause. */
export interface TurnEvidence {
  /** What the turn model says (0–1); null = nothing: there is none, or no answer yet. */
  readonly probability: number | null;
  /** All words of the turn so far. */
  readonly text: string;
  /** BCP 47. */
  readonly language: string;
  /** Null = any answer may come. */
  readonly expected: DigitsExpected | null;
}

/** What a turn ended by: the usual silence, a longer one, or at once. */
export type TurnEnding = 'endpoint' | 'held' | 'early' | 'digits';

/** The silence that ends the turn, and why it is that. */
export interface TurnLimit {
  readonly silenceMs: number;
  readonly by: TurnEnding;
}

/** Below this probability, words hold the turn that few phrases end with. */
const PERHAPS_HOLDS_BELOW = 0.5;

/** How much silence ends a turn, as far as is known in the pause. */
export function turnLimit(evidence: TurnEvidence, settings: TurnSettings): TurnLimit {
  const { probability, text, language, expected } = evidence;
  const { ENDPOINT_MS, TURN_HOLD_MS, TURN_HOLD_BELOW, TURN_EARLY_ABOVE, TURN_DIGITS_MS } = settings;
  const digits = expected === null ? null : digitsSoFar(text, expected);
  if (digits === 'whole') return { silenceMs: 0, by: 'digits' };
  if (digits === 'enough') return { silenceMs: Math.max(TURN_HOLD_MS, ENDPOINT_MS), by: 'digits' };
  if (digits === 'part') return { silenceMs: Math.max(TURN_DIGITS_MS, ENDPOINT_MS), by: 'digits' };
  const hold = grammarHold(text, language);
  if (hold !== 'surely' && probability !== null && probability > TURN_EARLY_ABOVE) return { silenceMs: 0, by: 'early' };
  const sound = probability ?? 1;
  const isHeldByWords = hold === 'surely' || (hold === 'perhaps' && sound < PERHAPS_HOLDS_BELOW);
  const isHeld = TURN_HOLD_BELOW > 0 && (sound < TURN_HOLD_BELOW || isHeldByWords);
  if (isHeld) return { silenceMs: Math.max(TURN_HOLD_MS, ENDPOINT_MS), by: 'held' };
  return { silenceMs: ENDPOINT_MS, by: 'endpoint' };
}

/**
 * How far an answer of digits has come; `other`: it is another answer. With more than the largest count something was
 * misheard, and nobody knows what is missing.
 */
function digitsSoFar(text: string, { min, max }: DigitsExpected): 'whole' | 'enough' | 'part' | 'other' {
  const { count, only } = spokenDigits(text);
  if (!only) return 'other';
  if (count === max) return 'whole';
  return (min !== undefined && count >= min) || (max !== undefined && count > max) ? 'enough' : 'part';
}
