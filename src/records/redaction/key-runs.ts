/** Keys that a caller presses one after the other, as one number. */
import { cardLengths, looksLikePhone, passesLuhn } from './checks.ts';
import type { Cue } from './cues.ts';

/** What stands in place of a key that is masked. */
export const MASKED_KEY = '•';

/** A key after this long begins something new. */
const PAUSE_MAX_MS = 10_000;
/** Choices in menus and extensions stay readable; a longer number may be anything. */
const SHOWN_MAX_KEYS = 4;
const CARD_DIGITS = { min: 13, max: 19 };
/** Longer numbers than any account's are private whatever they are. */
const ACCOUNT_MAX_DIGITS = 17;
const PRIVATE_CUES: readonly (Cue | null)[] = ['card', 'account', 'phone', 'ssn', 'code', 'birth', 'iban'];
const RUN_MAX_KEYS = 40;

interface Key {
  readonly name: string;
  readonly digit: string;
  isMasked: boolean;
}

/** A key that is masked now, or no longer. */
export interface KeyChange {
  readonly name: string;
  readonly isMasked: boolean;
}

export class KeyRuns {
  #keys: Key[] = [];
  #cue: Cue | null = null;
  #lastMs = 0;
  /** The last keys, also those of runs that are over. */
  readonly #recent: Key[] = [];

  /** Keys are masked that may be the beginning of a number. */
  get isHolding(): boolean {
    return this.#keys.some(({ isMasked }) => isMasked);
  }

  /**
   * `digit` was pressed; `name` is told of it later. `cue` = what was asked for. Returns whether it is masked, and what
   * changed of those before it.
   */
  press(name: string, digit: string, cue: Cue | null, nowMs: number): { isMasked: boolean; changes: KeyChange[] } {
    const isOver = nowMs - this.#lastMs > PAUSE_MAX_MS || this.#keys.length >= RUN_MAX_KEYS;
    const changes = isOver ? this.release() : [];
    if (this.#keys.length === 0) this.#cue = cue;
    this.#lastMs = nowMs;
    if (!/^\d$/.test(digit)) return { isMasked: false, changes: [...changes, ...this.release()] };
    const isMasked = PRIVATE_CUES.includes(this.#cue) || this.#keys.length >= SHOWN_MAX_KEYS;
    const key = { name, digit, isMasked };
    this.#keys.push(key);
    this.#recent.push(key);
    if (this.#recent.length > RUN_MAX_KEYS) this.#recent.shift();
    return { isMasked, changes: isMasked ? [...changes, ...this.#maskIfPrivate()] : changes };
  }

  /** How `text` reads, which repeats the keys that were pressed last: as they do, now and later. Null = it does not. */
  echo(text: string): (() => string) | null {
    const digits = text.replace(/\D/g, '');
    const keys = digits === '' ? [] : this.#recent.slice(-digits.length);
    return keys.map(({ digit }) => digit).join('') === digits ? () => maskKeys(text, keys) : null;
  }

  /** Ends a run after a pause. Returns what changed. */
  settle(nowMs: number): KeyChange[] {
    return nowMs - this.#lastMs > PAUSE_MAX_MS ? this.release() : [];
  }

  /** Ends the run: its keys are shown again unless they are private. */
  release(): KeyChange[] {
    const isPrivate = this.#isPrivate();
    const changes = this.#setAll(isPrivate);
    this.#keys = [];
    return changes;
  }

  #maskIfPrivate(): KeyChange[] {
    return this.#isPrivate() ? this.#setAll(true) : [];
  }

  #setAll(isMasked: boolean): KeyChange[] {
    const changed = this.#keys.filter((key) => key.isMasked !== isMasked);
    for (const key of changed) key.isMasked = isMasked;
    return changed.map(({ name }) => ({ name, isMasked }));
  }

  #isPrivate(): boolean {
    return isPrivateRun(this.#keys.map(({ digit }) => digit).join(''), this.#cue);
  }
}

function isPrivateRun(digits: string, cue: Cue | null): boolean {
  if (PRIVATE_CUES.includes(cue)) return digits !== '';
  if (digits.length > ACCOUNT_MAX_DIGITS) return true;
  const isLong = digits.length >= CARD_DIGITS.min && digits.length <= CARD_DIGITS.max;
  return (isLong && (passesLuhn(digits) || cardLengths(digits).includes(digits.length))) || looksLikePhone(digits);
}

/** The digits of `text`, which are `keys` in this order, as they read now. */
function maskKeys(text: string, keys: readonly Key[]): string {
  let at = 0;
  return text.replace(/\d/g, (digit) => (keys[at++]?.isMasked === true ? MASKED_KEY : digit));
}
