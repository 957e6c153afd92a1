/**
 * Beside a text, its words as a search compares them, where the database's own rules would not find them: in scripts
 * without spaces a whole sentence would be one word.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind } from '../database-kind.ts';

// biome-ignore lint/suspicious/noExplicitAny: a migration knows the tables as they were, not as tables.ts has them
type AnyDatabase = Kysely<any>;

const COLUMN = 'ALTER TABLE texts ADD COLUMN search_words TEXT';

/** As in 0001-records.ts. */
const blocksOf = (seq: string): string =>
  `'a' || (${seq} >> 6) || ' b' || (${seq} >> 9) || ' c' || (${seq} >> 12) || ' d' || (${seq} >> 15)`;
const indexed = (row: string): string => `coalesce(${row}search_words, ${row}text)`;
const ADD_NEW = `INSERT INTO texts_index (rowid, text, blocks)
  VALUES (new.id, ${indexed('new.')}, ${blocksOf('new.call_seq')})`;
const REMOVE_OLD = `INSERT INTO texts_index (texts_index, rowid, text, blocks)
  VALUES ('delete', old.id, ${indexed('old.')}, ${blocksOf('old.call_seq')})`;

const SQLITE: readonly string[] = [
  COLUMN,
  'DROP TRIGGER texts_added',
  'DROP TRIGGER texts_removed',
  'DROP TRIGGER texts_changed',
  'DROP VIEW texts_indexed',
  `CREATE VIEW texts_indexed AS SELECT id, ${indexed('')} AS text, ${blocksOf('call_seq')} AS blocks FROM texts`,
  `CREATE TRIGGER texts_added AFTER INSERT ON texts BEGIN ${ADD_NEW}; END`,
  `CREATE TRIGGER texts_removed AFTER DELETE ON texts BEGIN ${REMOVE_OLD}; END`,
  `CREATE TRIGGER texts_changed AFTER UPDATE OF text, search_words ON texts BEGIN ${REMOVE_OLD}; ${ADD_NEW}; END`,
];

/** As in 0001-records.ts. */
const NOT_IN_WORDS =
  '[\\u0001-\\u002f\\u003a-\\u0040\\u005b-\\u0060\\u007b-\\u00a9\\u00ab-\\u00b1\\u00b4\\u00b6-\\u00b8\\u00bb\\u00bf' +
  '\\u00d7\\u00f7\\u2000-\\u206f\\u20a0-\\u20cf\\u2190-\\u245f\\u2500-\\u2bff\\u3000-\\u3004\\u3008-\\u3020' +
  '\\U0001f000-\\U0001faff]+';

const POSTGRES: readonly string[] = [
  COLUMN,
  'DROP INDEX texts_words',
  'ALTER TABLE texts DROP COLUMN words',
  `ALTER TABLE texts ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('simple', regexp_replace(
    regexp_replace(normalize(coalesce(search_words, text), NFD), '[\\u0300-\\u036f]+', '', 'g'), '${NOT_IN_WORDS}',
    ' ', 'g'
  ))) STORED`,
  'CREATE INDEX texts_words ON texts USING gin (words)',
];

/** Adds the words. Texts that are there keep the index that they have: they are in scripts with spaces. */
export async function addSearchWords(database: AnyDatabase, kind: DatabaseKind): Promise<void> {
  for (const statement of kind === 'sqlite' ? SQLITE : POSTGRES) await raw(statement).execute(database);
}

function raw(statement: string): RawBuilder<unknown> {
  return sql.raw(statement);
}
