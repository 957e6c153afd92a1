/**
 * What a client saw against what it must see. A golden is JSON; beside plain values it may hold `"*"` (anything but
 * nothing), `"~some words"` (these words, one in five may differ) and `"#"` (any number).
 */
import { countEdits, wordErrorRate } from '../bench/wer/align.ts';
import { normaliseWords } from '../bench/wer/normalise.ts';

const WORD_ERRORS_MAX_PERCENT = 20;

/** Where `seen` differs from `golden`, one line each; empty = nowhere. */
export function differences(seen: unknown, golden: unknown, path = 'it'): string[] {
  const differs = [`${path}: got ${shown(seen)}, expected ${shown(golden)}`];
  if (golden === '*') return seen === null || seen === undefined || seen === '' ? differs : [];
  if (golden === '#') return typeof seen === 'number' ? [] : differs;
  if (typeof golden === 'string' && golden.startsWith('~'))
    return typeof seen === 'string' && isNearly(seen, golden.slice(1)) ? [] : differs;
  if (Array.isArray(golden)) {
    if (!Array.isArray(seen) || seen.length !== golden.length) return differs;
    return golden.flatMap((each, at) => differences(seen[at], each, `${path}[${at}]`));
  }
  if (isObject(golden)) {
    if (!isObject(seen)) return differs;
    const names = new Set([...Object.keys(golden), ...Object.keys(seen)]);
    return [...names].flatMap((name) => differences(seen[name], golden[name], `${path}.${name}`));
  }
  return Object.is(seen, golden) ? [] : differs;
}

/**
 * Whether a difference may come of a busy machine: texts before the end of what is said, and an eager end of turn, are
 * optional in all protocols, and left out where there is no time for them.
 */
export function mayBeLoad(difference: string): boolean {
  return /^it[.\w]*\.(eager|preflight|hasInterims|hasDeltas): got false, expected true$/.test(difference);
}

function isNearly(text: string, expected: string): boolean {
  return wordErrorRate(countEdits(normaliseWords(expected), normaliseWords(text))) <= WORD_ERRORS_MAX_PERCENT;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
