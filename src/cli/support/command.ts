/** The `trunkline support` command: what it takes. Its code is loaded when it is run. */
import type { Command } from 'commander';
import { systemClock } from '../../foundation/clock.ts';
import { parseWebUrl } from '../arguments.ts';
import type { Terminal } from '../terminal.ts';
import type { SupportOptions } from './support.ts';

const NOTES = `
In it are versions, settings without secrets, the machine, what "doctor" finds and,
where a server runs, what it says of itself and its metrics. With --call also the
events of a call: what came when, without anything that was said, written or
pressed. It has no keys, and phone numbers are hidden. Nothing is sent: look through
it, then give it to whoever helps you.

The server is that of --url or TRUNKLINE_URL, otherwise the one at PORT on this
machine. It is asked with --key, TRUNKLINE_KEY or the first of API_KEYS.

Examples:
  $ trunkline support --log /var/log/trunkline.log
  $ journalctl -u trunkline -o cat --since -1h > log && trunkline support --log log
  $ trunkline support --call CA… --out bundle.tar.gz

Exits with 1 when something that was asked for could not be had; the rest is in it.`;

/** Adds the command to `program`; `done` gets the exit code. */
export function describeSupport(program: Command, terminal: Terminal, done: (exitCode: number) => void): void {
  program
    .command('support')
    .description('write one file for whoever helps: versions, settings, findings, log; no secrets, no words')
    .option('--log <file>', "the server's log: its last MiB, from level info on")
    .option('--call <id>', 'a call: its events, without words')
    .option('--out <file>', 'write this new file (default: trunkline-support-<time>.tar.gz)')
    .option('--url <url>', 'a running server (default: TRUNKLINE_URL)', parseWebUrl)
    .option('--key <key>', 'one of its keys (default: TRUNKLINE_KEY)')
    .addHelpText('after', NOTES)
    .action(async ({ log = null, call = null, out = null, ...server }: Partial<SupportOptions>) => {
      const { support } = await import('./support.ts');
      done(await support({ log, call, out, ...server }, systemClock, terminal));
    });
}
