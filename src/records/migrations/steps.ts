/** The steps of the schema. A step that was released is never changed. */
import type { Kysely } from 'kysely';
import type { DatabaseKind } from '../database-kind.ts';
import { createRecords } from './0001-records.ts';
import { addSearchWords } from './0002-words.ts';
import { addFlows } from './0003-flows.ts';
import { addCluster } from './0004-cluster.ts';
import { addMessages } from './0005-messages.ts';
import { addPlannedSearch } from './0006-planned-search.ts';
import { addTerms } from './0007-terms.ts';
import { addSipAnswers } from './0008-sip-answers.ts';
import { addWholeNumbers } from './0009-whole-numbers.ts';

// biome-ignore lint/suspicious/noExplicitAny: migrations run before the tables are those of tables.ts
export type AnyDatabase = Kysely<any>;

/** Changes the schema; in a transaction with the steps beside it. @throws the error of the database */
type MigrationStep = (database: AnyDatabase, kind: DatabaseKind) => Promise<void>;

/** By name; they run in the order of their names. */
export const STEPS: Readonly<Record<string, MigrationStep>> = {
  '0001-records': createRecords,
  '0002-words': addSearchWords,
  '0003-flows': addFlows,
  '0004-cluster': addCluster,
  '0005-messages': addMessages,
  '0006-planned-search': addPlannedSearch,
  '0007-terms': addTerms,
  '0008-sip-answers': addSipAnswers,
  '0009-whole-numbers': addWholeNumbers,
};
