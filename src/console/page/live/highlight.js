/** Words that somebody looks out for. Pure functions. */

/** More are taken for a mistake. */
const WORDS_MAX = 100;

/**
 * A pattern of a list of words and phrases, parted by commas or lines; null = there is none. `cancel*` is also
 * `cancelled`; case does not matter.
 * @param {string} list @returns {RegExp | null}
 */
export function patternOf(list) {
  const words = list
    .split(/[,;\n]/)
    .map((word) => word.trim())
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, WORDS_MAX);
  if (words.length === 0) return null;
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.map(escapeWord).join('|')})(?![\\p{L}\\p{N}])`, 'giu');
}

/** @param {string} word */
function escapeWord(word) {
  const isBeginning = word.endsWith('*');
  const escaped = (isBeginning ? word.slice(0, -1) : word)
    .replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
    .replace(/\s+/g, '\\s+');
  return isBeginning ? `${escaped}[\\p{L}\\p{N}]*` : escaped;
}

/**
 * `text` in pieces, of which those that `pattern` finds are marked.
 * @param {string} text @param {RegExp | null} pattern @returns {{ text: string, marked: boolean }[]}
 */
export function splitMarked(text, pattern) {
  if (pattern === null) return [{ text, marked: false }];
  const pieces = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(pattern)) {
    if (index > from) pieces.push({ text: text.slice(from, index), marked: false });
    pieces.push({ text: found, marked: true });
    from = index + found.length;
  }
  if (from < text.length || pieces.length === 0) pieces.push({ text: text.slice(from), marked: false });
  return pieces;
}

/** The end of a text, from a whole word on. @param {string} text @param {number} chars @returns {string} */
export function endOf(text, chars) {
  if (text.length <= chars) return text;
  const end = text.slice(-chars);
  const space = end.indexOf(' ');
  return `…${space < 0 ? end : end.slice(space)}`;
}
