/** docs/internals/clients.md: which unchanged clients work. */
import type { Client } from './client.ts';
import { CLIENTS_NOT_RUN } from './clients.ts';
import { allDeletions, type DeletionResult, nameOf, UNSENT } from './deletions.ts';

/** What became of one client; `wrong` = where what it saw differs from its golden, or why it could not be run. */
export interface ClientResult {
  readonly client: Client;
  readonly outcome: 'works' | 'fails' | 'not run';
  readonly wrong: readonly string[];
}

const OUTCOMES = { works: 'yes', fails: 'no', 'not run': 'not run' } as const;

const DELETIONS_HEAD = '## What they cannot do without';

/** The page of a whole run. What `before` says of deletions stays. */
export function clientsPage(results: readonly ClientResult[], before: string): string {
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
    'but its address and key changed, compares what it sees with `test/foreign-clients/goldens/`, and writes this',
    'page. A program for each is in `test/foreign-clients/`. No client is patched. One that could not be installed',
    'says `not run`. `--only <name> --write` renews the rows of some.',
    '',
    ...tables,
    '## Not run',
    '',
    '| client | why |',
    '| --- | --- |',
    ...CLIENTS_NOT_RUN.map(({ title, why }) => `| ${title} | ${why} |`),
    '',
    ...deletionsOf(before),
  ].join('\n');
}

function deletionsOf(page: string): string[] {
  const at = page.indexOf(DELETIONS_HEAD);
  return at === -1 ? [] : [page.slice(at)];
}

/** `page` with what came of deletions; rows of others stay. */
export function pageWithDeletions(page: string, results: readonly DeletionResult[]): string {
  const at = page.indexOf(DELETIONS_HEAD);
  const rows = at === -1 ? [] : page.slice(at).split('\n');
  const now = results.map(({ effect, wrong, ...of }) => `${keyOf(of)} ${wrong === UNSENT ? wrong : shown(effect)} |`);
  const kept = allDeletions().flatMap((of) => [...now, ...rows].find((row) => row.startsWith(keyOf(of))) ?? []);
  return [
    `${(at === -1 ? page : page.slice(0, at)).trimEnd()}\n`,
    DELETIONS_HEAD,
    '',
    '`npm run clients -- --deletions --write` runs clients behind a proxy that leaves out one thing of what the',
    'gateway answers. Where something breaks, the golden of that client proves that the gateway sends it.',
    '',
    '| client | left out | what happens |',
    '| --- | --- | --- |',
    ...kept,
    '',
  ].join('\n');
}

function keyOf({ client, left }: Pick<DeletionResult, 'client' | 'left'>): string {
  return `| ${client.title} | ${nameOf(left)} |`;
}

function shown(effect: string): string {
  return effect === '' ? 'nothing: it is not missed' : effect.replaceAll('|', '\\|').replaceAll('<', '\\<');
}

/** `page` with the rows of `results` as they are now; the others stay. */
export function renewedPage(page: string, results: readonly ClientResult[]): string {
  const lines = page.split('\n');
  for (const result of results) {
    const from = lines.indexOf(`## ${result.client.door}`);
    const start = `| ${result.client.title} | ${result.client.shows} |`;
    const at = lines.findIndex((line, index) => index > from && line.startsWith(start));
    if (from === -1 || at === -1) throw new Error(`the page has no row of ${result.client.name}: run all`);
    lines[at] = rowOf(result);
  }
  return lines.join('\n');
}

function rowOf({ client, outcome }: ClientResult): string {
  return `| ${client.title} | ${client.shows} | ${OUTCOMES[outcome]} |`;
}
