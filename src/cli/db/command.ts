/** The `trunkline db` commands: what they take. Their code is loaded when one is run. */
import type { Command } from 'commander';
import { loadSettings } from '../../foundation/settings/config.ts';
import type { Terminal } from '../terminal.ts';
import type { DatabaseFlags } from './place.ts';

const NOTES = `
While a server uses the records, the commands ask it: the one that owns DATA_DIR,
or the one at --url. Otherwise they open DATA_DIR or DATABASE_URL themselves.

A server brings its records up to its own version when it starts, and makes a copy
before (SQLite). "migrate --dry-run" shows beforehand that this works and how long
it takes: SQLite on a copy, PostgreSQL in a transaction that is taken back.

A server deletes what is past its time by itself. It stops where the clock does not
fit what is stored, or much would go at once: "sweep" shows what is due and why it
waits, "sweep --yes" has the server go on.

"query" asks a copy that it makes and removes, PostgreSQL in a transaction that only
reads: 1,000 rows, 10 s. Never open the live file with sqlite3.

An event that the database refuses alone, for what is in it, is kept in
DATA_DIR/refused. "refused" says what is there, "refused --retry" stores what the
database takes now, e.g. after an update.

Examples:
  $ trunkline db status
  $ trunkline db query "select count(*) from calls"
  $ trunkline db backup
  $ trunkline db migrate --dry-run
  $ trunkline db sweep
  $ trunkline db status --url https://bridge.example.com --key …`;

/** Adds the commands to `program`; `done` gets the exit code. */
export function describeDatabase(program: Command, terminal: Terminal, done: (exitCode: number) => void): void {
  const db = program
    .command('db')
    .description('the records of calls: status, backup, migrate, sweep, query, refused')
    .addHelpText('after', NOTES);
  const add = (name: string, description: string): Command =>
    db
      .command(name)
      .description(description)
      .option('--url <url>', 'a running server (default: TRUNKLINE_URL)')
      .option('--key <key>', 'one of its keys (default: TRUNKLINE_KEY)')
      .option('--json', 'as JSON');
  add('status', 'where records are, how much there is, and how far their schema is').action(
    async (flags: DatabaseFlags) => {
      const { showStatus } = await import('./run.ts');
      done(await showStatus(flags, loadSettings({ opensPorts: false }), terminal));
    },
  );
  add('backup', 'copy the records to a new file in DATA_DIR/backups, also while calls go on').action(
    async (flags: DatabaseFlags) => {
      const { makeCopy } = await import('./run.ts');
      done(await makeCopy(flags, loadSettings({ opensPorts: false }), terminal));
    },
  );
  add('migrate', 'bring the records up to this version, after a copy')
    .option('--dry-run', 'only rehearse it')
    .action(async (flags: DatabaseFlags & { readonly dryRun?: boolean }) => {
      const { bringUp } = await import('./run.ts');
      done(await bringUp(flags, loadSettings({ opensPorts: false }), terminal));
    });
  add('sweep', 'what is past its time, and why it is not deleted')
    .option('--yes', 'have it deleted, whatever made the server stop')
    .action(async (flags: DatabaseFlags & { readonly yes?: boolean }) => {
      const { sweep } = await import('./sweep.ts');
      done(await sweep(flags, loadSettings({ opensPorts: false }), terminal));
    });
  add('query', 'look inside the records with one SELECT, also while calls go on')
    .argument('<sql>', 'such as "select id, started_ms from calls order by seq desc limit 5"')
    .action(async (text: string, flags: DatabaseFlags) => {
      const { query } = await import('./query.ts');
      done(await query(text, flags, loadSettings({ opensPorts: false }), terminal));
    });
  add('refused', 'events that the database refused, which DATA_DIR/refused keeps')
    .option('--retry', 'store what it takes now')
    .action(async (flags: DatabaseFlags & { readonly retry?: boolean }) => {
      const { showRefused } = await import('./refused.ts');
      done(await showRefused(flags, loadSettings({ opensPorts: false }), terminal));
    });
}
