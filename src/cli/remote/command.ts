/** The commands to a running server: what they take. Their code is loaded when one is run. */
import { type Command, Option } from 'commander';
import { loadSettings } from '../../foundation/settings/config.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../records/export/export-formats.ts';
import { parseCount, parseWebUrl } from '../arguments.ts';
import { type ServerFlags, serverOf } from '../server-client.ts';
import type { Terminal } from '../terminal.ts';
import type { RemoteContext } from './context.ts';
import type { ExportFlags } from './export.ts';
import { type FilterFlags, withFilters } from './filters.ts';

const SERVER_NOTES = `
The server is that of --url or TRUNKLINE_URL, otherwise the one at PORT on this
machine. It is asked with --key, TRUNKLINE_KEY or the first of API_KEYS.`;

const CALLS_NOTES = `
Without words and filters the calls that go on are listed; otherwise all that
match, the latest first. Words find what was said by anybody in one utterance:
'refund "next week" cancel* -invoice', with OR between alternatives.
${SERVER_NOTES}

Examples:
  $ trunkline calls
  $ trunkline calls refund --since 7d --agent tom
  $ trunkline calls --end-reason lost --since 24h --json`;

const TAIL_NOTES = `
Follows all calls from now on until Ctrl-C, or one call from its beginning until
it ends. Words that may still change are shown on a terminal only. A lost
connection is opened again, and what was missed is shown then.
--json prints the events, one a line, without partial captions.
${SERVER_NOTES}

Exits with 0 at the end of the call, 130 after Ctrl-C.`;

const EXPORT_NOTES = `
The calls that match, with what both sides said; all calls without words and
filters. With --out the file is there whole or stays as it was.
${SERVER_NOTES}

Examples:
  $ trunkline export --since 2026-11-01 --format csv --out november.csv
  $ trunkline export --tag complaint | jq -r .id`;

type Done = (exitCode: number) => void;
type Flags = ServerFlags & { readonly json?: boolean };

/** Adds the commands to `program`; `done` gets the exit code. */
export function describeRemote(program: Command, terminal: Terminal, done: Done): void {
  const context = ({ json = false, ...flags }: Flags): RemoteContext => {
    const settings = loadSettings({ opensPorts: false });
    return { server: serverOf(flags, settings), json, terminal };
  };
  describeLists(program, context, done);
  describeActions(program, context, done);
}

type ContextOf = (flags: Flags) => RemoteContext;

function describeLists(program: Command, context: ContextOf, done: Done): void {
  const calls = program
    .command('calls')
    .description('list the calls that go on, or search all that are kept')
    .argument('[words...]', 'what was said in them')
    .option('--live', 'only those that go on')
    .option('--limit <number>', 'at most so many', parseCount, 50);
  withServer(withFilters(calls), CALLS_NOTES).action(
    async (words: string[], flags: Flags & FilterFlags & { live?: boolean; limit: number }) => {
      const { listCalls } = await import('./calls.ts');
      done(await listCalls(words, flags, context(flags)));
    },
  );
  const tail = program
    .command('tail')
    .description('follow the captions of all calls, or of one')
    .argument('[call]', 'its id');
  withServer(tail, TAIL_NOTES).action(async (id: string | undefined, flags: Flags) => {
    const { tail: follow } = await import('./tail.ts');
    done(await follow(id, context(flags)));
  });
  const exported = program
    .command('export')
    .description('write calls with their transcripts as JSON Lines, CSV or text')
    .argument('[words...]', 'what was said in them')
    .addOption(
      new Option('--format <format>', 'a call a line, a row for each thing said, or for people')
        .choices(EXPORT_FORMATS)
        .default('jsonl' satisfies ExportFormat),
    )
    .option('--out <file>', 'write this file, for your eyes only (default: standard output)');
  withServer(withFilters(exported), EXPORT_NOTES, 'with --out: report in JSON').action(
    async (words: string[], flags: Flags & ExportFlags) => {
      const { exportCalls } = await import('./export.ts');
      done(await exportCalls(words, flags, context(flags)));
    },
  );
}

function describeActions(program: Command, context: ContextOf, done: Done): void {
  const say = program
    .command('say')
    .description('say something to the caller of a live call')
    .argument('<call>', 'its id')
    .argument('<text...>', 'what to say');
  withServer(say, SERVER_NOTES).action(async (id: string, text: string[], flags: Flags) => {
    const { say: speak } = await import('./act.ts');
    done(await speak(id, text.join(' '), context(flags)));
  });
  const hangup = program.command('hangup').description('end a live call').argument('<call>', 'its id');
  withServer(hangup, SERVER_NOTES).action(async (id: string, flags: Flags) => {
    const { hangUp } = await import('./act.ts');
    done(await hangUp(id, context(flags)));
  });
  const status = program.command('status').description('how the server is, on one screen');
  withServer(status, `${SERVER_NOTES}\n\nExits with 1 when the server is not ready.`).action(async (flags: Flags) => {
    const { showStatus } = await import('./status.ts');
    done(await showStatus(context(flags)));
  });
}

function withServer(command: Command, notes: string, jsonMeans = 'as JSON'): Command {
  return command
    .option('--url <url>', 'a running server (default: TRUNKLINE_URL)', parseWebUrl)
    .option('--key <key>', 'one of its keys (default: TRUNKLINE_KEY)')
    .option('--json', jsonMeans)
    .addHelpText('after', notes);
}
