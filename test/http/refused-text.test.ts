/** Every parameter of every GET route, with texts and numbers that PostgreSQL refuses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { settle } from '../fakes/clock.ts';
import { whyNoPostgres } from '../helpers/postgres.ts';
import { addCall } from '../helpers/record-rows.ts';
import { DATABASES, type TestDatabases } from '../records/databases.ts';
import { listen, startServer, type TestServer } from './test-server.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: boolean;
}

type Paths = Record<string, Record<string, { readonly parameters?: readonly Parameter[] }>>;

/** Percent-encoded: U+0000, half of a surrogate pair as bytes, and numbers that a column may not hold. */
const VALUES = ['%00', 'a%00b', '%ED%A0%80', '-1', '1.5', '9007199254740991'];
const CALL = 'CA1';

let databases: TestDatabases;
let database: RecordsDatabase;
let server: TestServer;
let base: string;

/** Some answers have no end. */
async function statusOf(url: string): Promise<number> {
  const ended = new AbortController();
  let status = 0;
  const asked = fetch(`${base}${url}`, { signal: ended.signal }).then((answer) => {
    status = answer.status;
  });
  const look = async (): Promise<boolean> => {
    server.clock.advance(20);
    await settle();
    return status !== 0;
  };
  await expect.poll(look, { interval: 1 }).toBe(true);
  await asked;
  ended.abort();
  return status;
}

/** Each parameter of each path with each value; other path parameters name what there is. */
function urlsOf(paths: Paths): string[] {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const parameters = get?.parameters ?? [];
    const plain = path.replaceAll(/\{(\w+)\}/g, CALL);
    return parameters.flatMap(({ name, in: place }) => {
      if (place === 'path') return VALUES.map((value) => path.replace(`{${name}}`, value).replaceAll(/\{\w+\}/g, CALL));
      return place === 'query' ? VALUES.map((value) => `${plain}?${name}=${value}`) : [];
    });
  });
}

/** As nobody gets them: a time that is no whole number, and a call after the last possible one. */
const CURSORS = [
  ['ended', 1.5, '\0'],
  ['ended', 1e300, 'a'],
  ['search', 9_007_199_254_740_991],
].map((position) => Buffer.from(JSON.stringify(position)).toString('base64url'));

describe.runIf(whyNoPostgres === '')(`queries that PostgreSQL cannot answer${whyNoPostgres}`, () => {
  beforeAll(async () => {
    databases = DATABASES[1].start();
    database = await databases.open();
    await addCall(database.db, 1, []);
    server = await startServer({}, undefined, undefined, null, database);
    base = await listen(server.app);
  });
  afterAll(async () => {
    await server.app.close();
    await databases.end();
  });

  it('get 400, 404 or an empty list', async () => {
    const { paths } = (await server.app.inject('/docs/json')).json<{ paths: Paths }>();
    const urls = urlsOf(paths).filter((url) => !url.includes('/media'));
    urls.push(...CURSORS.flatMap((cursor) => [`/v1/calls?cursor=${cursor}`, `/v1/calls?q=word&cursor=${cursor}`]));
    expect(urls.length).toBeGreaterThan(200);
    const failed: string[] = [];
    for (const url of urls) {
      const status = await statusOf(url);
      if (status === 500 || status === 503) failed.push(`${status} ${url}`);
    }
    expect(failed).toEqual([]);
  });
});
