/** Records of an earlier program: what is pending is shown, rehearsed, applied as a whole or not at all, or refused. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bringUp, showStatus } from '../../src/cli/db/run.ts';
import { type Clock, systemClock } from '../../src/foundation/clock.ts';
import { POSTGRES_NOW_MS } from '../../src/foundation/database/postgres-time.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { ConfigError, readSettings } from '../../src/foundation/settings/config.ts';
import type { DatabaseReport } from '../../src/records/database-report.ts';
import { migrate, readSchemaState } from '../../src/records/migrations/migrations.ts';
import type { AnyDatabase } from '../../src/records/migrations/steps.ts';
import { openInFolder, openRecords } from '../../src/records/open-records.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { openSqliteRecords } from '../../src/records/sqlite-records.ts';
import { type SharedPostgres, sharedPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { addCall } from '../helpers/record-rows.ts';
import { captureTerminal } from '../helpers/terminal.ts';
import { DATABASES } from './databases.ts';

/** Later steps, as later programs have them; what is in here is known to the program under test. */
const later = vi.hoisted((): Record<string, (database: AnyDatabase) => Promise<void>> => ({}));

vi.mock('../../src/records/migrations/steps.ts', async (importOriginal) => {
  const { STEPS } = await importOriginal<{ STEPS: object }>();
  return { STEPS: new Proxy(STEPS, { ownKeys, get, getOwnPropertyDescriptor }) };
  function ownKeys(steps: object): (string | symbol)[] {
    return [...Reflect.ownKeys(steps), ...Object.keys(later)];
  }
  function get(steps: object, name: string): unknown {
    return later[name] ?? Reflect.get(steps, name);
  }
  function getOwnPropertyDescriptor(steps: object, name: string): PropertyDescriptor {
    return { value: get(steps, name), configurable: true, enumerable: true };
  }
});

/** The steps of this program. */
const SCHEMA = Object.keys(
  await vi.importActual<{ STEPS: object }>('../../src/records/migrations/steps.ts').then(({ STEPS }) => STEPS),
).toSorted();
const MOOD = '9001-mood';
const PLACE = '9002-place';

const addMood = async (db: AnyDatabase): Promise<void> => {
  await sql`ALTER TABLE calls ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'`.execute(db);
  await sql`UPDATE calls SET mood = 'glad' WHERE finals > 0`.execute(db);
};
const addPlace = async (db: AnyDatabase): Promise<void> => {
  await sql`CREATE TABLE places (name TEXT PRIMARY KEY)`.execute(db);
};
const breakOff = async (db: AnyDatabase): Promise<void> => {
  await addPlace(db);
  await sql`SELECT 1 FROM nowhere`.execute(db);
};

afterEach(() => {
  for (const name of Object.keys(later)) delete later[name];
});

async function moods({ db }: Pick<RecordsDatabase, 'db'>): Promise<string[]> {
  const { rows } = await sql<{ mood: string }>`SELECT mood FROM calls ORDER BY seq`.execute(db);
  return rows.map(({ mood }) => mood);
}

describe.each(DATABASES)('pending steps in $name', ({ isThere, start }) => {
  const databases = start();
  afterEach(() => databases.end());

  it.runIf(isThere)('are all applied or none, and can be tried again', async () => {
    const database = await databases.open();
    const { db, kind } = database;
    await addCall(db, 1, ['hello']);
    Object.assign(later, { [MOOD]: addMood, [PLACE]: breakOff });
    expect((await readSchemaState(db)).pending).toEqual([MOOD, PLACE]);
    await expect(migrate(db, kind)).rejects.toThrow(kind === 'sqlite' ? /nowhere/ : /42P01/);
    expect((await readSchemaState(db)).pending).toEqual([MOOD, PLACE]);
    await expect(moods(database)).rejects.toThrow(kind === 'sqlite' ? /mood/ : /42703/);
    Object.assign(later, { [PLACE]: addPlace });
    await migrate(db, kind);
    expect(await readSchemaState(db)).toEqual({ applied: [...SCHEMA, MOOD, PLACE], pending: [] });
    expect(await moods(database)).toEqual(['glad']);
  });
});

describe('a folder of an earlier program', () => {
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-earlier-'));
    const database = await openInFolder(folder);
    await migrate(database.db, 'sqlite');
    await addCall(database.db, 1, ['hello', 'there']);
    await database.close();
    Object.assign(later, { [MOOD]: addMood });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const settings = () => readSettings({ DATA_DIR: folder, MODELS_DIR: 'none' });
  const copies = () => (existsSync(join(folder, 'backups')) ? readdirSync(join(folder, 'backups')) : []);
  const start = () =>
    openRecords({ settings: settings(), clock: systemClock, log: createLog('silent'), metrics: new Metrics() });

  async function ask(command: typeof bringUp, flags: object = {}): Promise<string> {
    const { terminal, out } = captureTerminal();
    expect(await command({ json: true, ...flags }, settings(), terminal)).toBe(0);
    return out.text;
  }

  async function status(): Promise<Pick<DatabaseReport, 'applied' | 'pending' | 'calls'>> {
    const { applied, pending, calls } = JSON.parse(await ask(showStatus)) as DatabaseReport;
    return { applied, pending, calls };
  }

  it('shows what is pending; a rehearsal on a copy leaves it as it is, and no copy', async () => {
    const before = { applied: SCHEMA, pending: [MOOD], calls: 1 };
    expect(await status()).toEqual(before);
    expect(JSON.parse(await ask(bringUp, { dryRun: true }))).toMatchObject({ dryRun: true, pending: [MOOD] });
    expect(await status()).toEqual(before);
    expect(copies()).toEqual([]);
    const { terminal, out } = captureTerminal();
    await showStatus({}, settings(), terminal);
    expect(out.text).toContain(`schema ${SCHEMA.at(-1)}; to be applied: ${MOOD}`);
  });

  it('says at the rehearsal what would fail, and leaves no copy', async () => {
    Object.assign(later, { [PLACE]: breakOff });
    await expect(bringUp({ dryRun: true }, settings(), captureTerminal().terminal)).rejects.toThrow(/nowhere/);
    expect(copies()).toEqual([]);
  });

  it('is brought up by the command, after a copy that has all of it in the earlier schema', async () => {
    const answer = JSON.parse(await ask(bringUp)) as { applied: string[]; backup: string };
    expect(answer.applied).toEqual([MOOD]);
    expect(await status()).toEqual({ applied: [...SCHEMA, MOOD], pending: [], calls: 1 });
    const copy = await openSqliteRecords(answer.backup);
    expect(await readSchemaState(copy.db)).toEqual({ applied: SCHEMA, pending: [MOOD] });
    expect(await copy.db.selectFrom('texts').select('text').orderBy('id').execute()).toEqual([
      { text: 'hello' },
      { text: 'there' },
    ]);
    await copy.close();
  });

  it('is brought up by a start; one that is killed in the middle leaves it as it was for the next', async () => {
    let isInTheMiddle: () => void = () => undefined;
    const middle = new Promise<void>((resolve) => {
      isInTheMiddle = resolve;
    });
    later[MOOD] = async (db) => {
      await addMood(db);
      isInTheMiddle();
      await new Promise(() => undefined);
    };
    const database = await openInFolder(folder);
    void migrate(database.db, 'sqlite').catch(() => undefined);
    await middle;
    // Its thread ends with the transaction open, as it does when the process is killed.
    await database.abandon();
    later[MOOD] = addMood;
    expect(await status()).toEqual({ applied: SCHEMA, pending: [MOOD], calls: 1 });
    const kept = await start();
    expect(kept.records && (await moods(kept.records.database))).toEqual(['glad']);
    await kept.close();
    expect(copies()).toEqual([expect.stringMatching(/^records-.*-migration\.sqlite$/)]);
  });

  it('of a later program is refused by an earlier one, which says both versions and changes nothing', async () => {
    await ask(bringUp);
    const before = copies();
    delete later[MOOD];
    const refusal = `written by a newer Trunkline: they have ${MOOD}, and this one knows up to ${SCHEMA.at(-1)}. Start`;
    await expect(start()).rejects.toThrow(ConfigError);
    await expect(start()).rejects.toThrow(refusal);
    const { terminal } = captureTerminal();
    await expect(showStatus({}, settings(), terminal)).rejects.toThrow(refusal);
    await expect(bringUp({}, settings(), terminal)).rejects.toThrow(refusal);
    await expect(bringUp({ dryRun: true }, settings(), terminal)).rejects.toThrow(refusal);
    expect(copies()).toEqual(before);
    later[MOOD] = addMood;
    expect(await status()).toMatchObject({ pending: [], calls: 1 });
  });
});

describe.skipIf(whyNoPostgres !== '')(`a database of several gateways${whyNoPostgres}`, () => {
  let postgres: SharedPostgres;
  let url: string;
  const opened: RecordsDatabase[] = [];
  beforeAll(async () => {
    postgres = await sharedPostgres();
  });
  beforeEach(async () => {
    url = await postgres.createDatabase();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
  });

  /** Waits for others 30 times as fast as a gateway does. */
  const clock: Clock = { ...systemClock, nowMs: () => 30 * systemClock.nowMs() };

  async function open(): Promise<RecordsDatabase> {
    const database = await openPostgresRecords(url, { clock, log: createLog('silent'), isShared: true });
    opened.push(database);
    return database;
  }

  const live = ({ db }: RecordsDatabase, id: string) =>
    sql`INSERT INTO gateways (id, name, address, state, live, max_calls, firm_load, started_ms, seen_ms)
      VALUES (${id}, 'a', 'http://a', 'serving', 0, 20, 0, 0, ${sql.raw(POSTGRES_NOW_MS)} + 60000)`.execute(db);

  it('is used by gateways of the same tables together, one replaced by the other', async () => {
    await live(await open(), 'old');
    await live(await open(), 'new');
    await (await open()).close();
    expect((await readSchemaState((await open()).db)).pending).toEqual([]);
  });

  it('is not changed by a later program while gateways of an earlier one live', async () => {
    const old = await open();
    await live(old, 'old');
    later[MOOD] = addMood;
    await expect(open()).rejects.toThrow(/servers of an older version use this database.*end all of them/s);
    expect((await readSchemaState(old.db)).pending).toEqual([MOOD]);
    await sql`UPDATE gateways SET state = 'ended'`.execute(old.db);
    const [one, two] = await Promise.all([open(), open()]);
    for (const { db } of [one, two]) expect((await readSchemaState(db)).pending).toEqual([]);
  });

  it('that a later program has changed is refused by an earlier one, also while later ones live', async () => {
    later[MOOD] = addMood;
    await live(await open(), 'new');
    delete later[MOOD];
    await expect(open()).rejects.toThrow(`written by a newer Trunkline: they have ${MOOD}`);
  });
});
