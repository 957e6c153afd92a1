import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Terminal } from '../terminal.ts';

/** A password was wanted and nobody gave one. */
export class NoPassword extends Error {}

/**
 * The password that somebody types twice, unseen; where standard input is no terminal, its first line.
 * @throws NoPassword
 */
export async function askPassword({ err }: Terminal): Promise<string> {
  if (!process.stdin.isTTY) return readLine();
  const password = await typeUnseen('Password: ', err);
  if ((await typeUnseen('Again: ', err)) !== password) throw new NoPassword('the two are not the same');
  return password;
}

async function readLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) return line;
  } finally {
    lines.close();
  }
  throw new NoPassword('expected a password on standard input');
}

async function typeUnseen(question: string, err: Terminal['err']): Promise<string> {
  err.raw(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  // Ctrl-C comes here while the terminal waits for a line, and Ctrl-D ends the lines.
  const closed = once(
    lines.once('SIGINT', () => lines.close()),
    'close',
  ).then(() => null);
  try {
    const line = await Promise.race([lines.question(''), closed]);
    if (line === null) throw new NoPassword('no password was given');
    return line;
  } finally {
    lines.close();
    err.raw('\n');
  }
}
