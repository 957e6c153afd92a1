/** A search as the two databases want it. User's words are always quoted: they hold letters and digits alone. */
import type { SearchPhrase, SearchQuery } from './search-query.ts';

/**
 * An FTS5 expression that matches texts inside the block of that name (https://sqlite.org/fts5.html §3). The block
 * stands first, so that no word is looked for outside of it, and exclusions stand outermost for the same reason.
 */
export function toFts5({ required, excluded }: SearchQuery, blockName: string): string {
  const groups = required.map((group) => `text : (${group.map(ftsPhrase).join(' OR ')})`);
  const found = `(blocks : "${blockName}" AND ${groups.join(' AND ')})`;
  return excluded.length === 0 ? found : `${found} NOT text : (${excluded.map(ftsPhrase).join(' OR ')})`;
}

function ftsPhrase({ words, isPrefix }: SearchPhrase): string {
  return `"${words.join(' ')}"${isPrefix ? ' *' : ''}`;
}

/** A tsquery in text form (https://www.postgresql.org/docs/15/datatype-textsearch.html). */
export function toTsquery({ required, excluded }: SearchQuery): string {
  const groups = required.map((group) => `(${group.map(tsPhrase).join(' | ')})`);
  return [...groups, ...excluded.map((phrase) => `!${tsPhrase(phrase)}`)].join(' & ');
}

function tsPhrase({ words, isPrefix }: SearchPhrase): string {
  // As the index has them.
  const quoted = words.map((word) => `'${word.normalize('NFD')}'`);
  return `(${quoted.join(' <-> ')}${isPrefix ? ':*' : ''})`;
}
