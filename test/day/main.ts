/**
 * `npm run day`: plays a day of a call centre into the records of a new gateway and serves it, so that the console can
 * be looked at with it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { openDay } from './gateway.ts';

const write = (line: string): void => void process.stdout.write(`${line}\n`);

function whole(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
}

interface Flags {
  readonly calls: number;
  readonly live: number;
  readonly spoken: number;
  readonly port: number;
  readonly seed: number;
  readonly folder?: string;
}

const program = new Command('npm run day --')
  .description('a day of a call centre, to look at the console with; Ctrl-C ends it')
  .option('--calls <number>', 'calls that are over', whole, 2000)
  .option('--live <number>', 'calls that go on', whole, 12)
  .option('--spoken <number>', 'calls that go the whole way as sound; half of them go on', whole, 12)
  .option('--port <port>', 'where the console is', whole, 8080)
  .option('--seed <number>', 'another number is another day', whole, 1)
  .option('--folder <path>', 'keep the records here; otherwise they are deleted at the end');
program.parse();
const { folder: kept, ...flags } = program.opts<Flags>();
const folder = kept ?? mkdtempSync(join(tmpdir(), 'trunkline-day-'));
const day = await openDay({ ...flags, folder, tell: write });
write(`The day is at ${day.url}/`);
process.once('SIGINT', () => {
  void day.close().finally(() => {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  });
});
