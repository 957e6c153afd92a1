/** docs/internals/clients.md: which unchanged clients work. */
import type { Client } from './clients.ts';

/** What became of one client; `wrong` = where what it saw differs from its golden. */
export interface ClientResult {
  readonly client: Client;
  readonly wrong: readonly string[];
}

/** The page of a whole run. */
export function clientsPage(results: readonly ClientResult[]): string {
  const doors = [...new Set(results.map(({ client }) => client.door))];
  const tables = doors.flatMap((door) => [
    `## ${door}`,
    '',
    '| client | what it does here | works |',
    '| --- | --- | --- |',
    ...results.filter(({ client }) => client.door === door).map(rowOf),
    '',
  ]);
  return [
    '# Unchanged clients',
    '',
    '`npm run clients -- --write` installs each of these as its users do, runs it against a real gateway with nothing',
    'but its address and key changed, compares what it sees with `test/clients/goldens/`, and writes this page. A',
    'program for each is in `test/clients/`. No client is patched.',
    '',
    ...tables,
  ].join('\n');
}

function rowOf({ client, wrong }: ClientResult): string {
  return `| ${client.title} | ${client.shows} | ${wrong.length === 0 ? 'yes' : 'no'} |`;
}
