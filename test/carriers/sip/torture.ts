/** The messages of fixtures/wire/sip/rfc4475, and what our answer must be by the tables of their README. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../../fixtures/wire/sip/rfc4475');

interface TortureMessage {
  readonly name: string;
  /** Characters are bytes. */
  readonly text: string;
  /** Status of the answer over UDP; null = none. */
  readonly status: number | null;
  /** Why there is none. */
  readonly dropped: string | null;
  /** Statuses of the answers over TCP. */
  readonly tcpStatuses: readonly number[];
  /** Whether the TCP connection is closed then. */
  readonly closed: boolean;
}

/** The names of the files, without their ending. */
export function tortureFiles(): string[] {
  return readdirSync(FOLDER).flatMap((file) => (file.endsWith('.sip') ? [file.slice(0, -'.sip'.length)] : []));
}

/** One message, byte for byte. */
export function tortureBytes(name: string): Buffer {
  return readFileSync(join(FOLDER, `${name}.sip`));
}

/** All rows of the README. */
export function tortureMessages(): TortureMessage[] {
  const rows = readFileSync(join(FOLDER, 'README.md'), 'utf8').matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]*)\|/gm);
  return [...rows].map(([, name = '', answer = '', overTcp = '']) => ({
    name,
    text: tortureBytes(name).toString('latin1'),
    status: statusesIn(answer)[0] ?? null,
    dropped: /\((\w+)\)/.exec(answer)?.[1] ?? null,
    tcpStatuses: statusesIn(overTcp.trim() === '' ? answer : overTcp),
    closed: overTcp.includes('closed'),
  }));
}

/**
 * The message with `rport` in its topmost Via, so that the answer comes to the port of the test and not to that which
 * the Via names.
 */
export function withRport(text: string): string {
  return text.replace(/^((?:via|v)[ \t]*:\s*SIP\s*\/\s*\d\.\d\s*\/\s*\w+\s+[^\s;,]+)/im, '$1;rport');
}

function statusesIn(cell: string): number[] {
  return [...cell.matchAll(/\d{3}/g)].map(([status]) => Number(status));
}
