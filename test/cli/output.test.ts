/** What becomes of a command whose output cannot be written, as a shell has it. */
import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { type CliResult, cliEnvironment } from '../helpers/cli.ts';

/** Runs `line`, in which `trunkline` is the built command, in a shell. */
function inShell(line: string): Promise<CliResult> {
  const whole = `trunkline() { "${process.execPath}" "${packagePath('dist', 'src', 'cli.js')}" "$@"; }; ${line}`;
  return new Promise((resolve) => {
    execFile('sh', ['-c', whole], { env: cliEnvironment() }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

const SHORT = packagePath('fixtures', 'audio', 'short.wav');

it.each(['config', 'doctor --json', `transcribe ${SHORT} ${SHORT}`])(
  'says in one line that its output cannot be written, and ends with 1: %s',
  async (command) => {
    const { code, err } = await inShell(`trunkline ${command} > /dev/full`);
    expect(err).toBe('trunkline: standard output cannot be written (ENOSPC)\n');
    expect(code).toBe(1);
  },
);

it('ends as it would have when it is its errors that cannot be written', async () => {
  expect(await inShell('trunkline bogus 2> /dev/full')).toEqual({ code: 2, out: '', err: '' });
});

it('ends quietly, and transcribes no more, when its reader has had enough', async () => {
  const many = Array.from({ length: 200 }, () => SHORT).join(' ');
  const { code, out, err } = await inShell(`trunkline transcribe ${many} | head -n 1`);
  expect([code, err]).toEqual([0, '']);
  expect(out).toBe(`==> ${SHORT} <==\n`);
});
