/** Recordings of a real Asterisk 22.10: what it said on its WebSocket and what was said to it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AsteriskDialect } from '../../../../src/carriers/asterisk/wire/chan-websocket.ts';
import { TrunklineError } from '../../../../src/foundation/errors.ts';
import type { CarrierEvent, WireMessage } from '../../../../src/protocols/dialect.ts';

const FOLDER = join(import.meta.dirname, '../../../../fixtures/calls/asterisk');

/** One line of a recording. Of media only the size was kept. */
export interface RecordedMessage {
  readonly atMs: number;
  readonly fromAsterisk: boolean;
  readonly message: WireMessage;
}

/** The names of all recordings. */
export function recordingNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.jsonl'))
    .sort();
}

/** The messages of a recording; media are silence of the recorded size. */
export function readRecording(name: string): RecordedMessage[] {
  return readLines(name).flatMap(({ ms, dir, op, size, data }) => {
    if (op !== 'text' && op !== 'bin') return [];
    return [{ atMs: ms, fromAsterisk: dir === 'ast>us', message: op === 'bin' ? new Uint8Array(size) : data }];
  });
}

function readLines(name: string): { ms: number; dir: string; op: string; size: number; data: string }[] {
  return readFileSync(join(FOLDER, name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The table of the recordings' README: name → what the dialect makes of it. */
export function readTable(): [name: string, gives: string][] {
  const readme = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  return [...readme.matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)].map(([, name = '', gives = '']) => [name, gives.trim()]);
}

/** What the dialect makes of each message of Asterisk. A MEDIA_START begins a channel; some recordings have several. */
export function replay(name: string): (CarrierEvent | TrunklineError)[] {
  let dialect = new AsteriskDialect();
  return readRecording(name)
    .filter(({ fromAsterisk }) => fromAsterisk)
    .map(({ message }) => {
      if (typeof message === 'string' && message.includes('MEDIA_START')) dialect = new AsteriskDialect();
      try {
        return dialect.receive(message);
      } catch (error) {
        if (error instanceof TrunklineError) return error;
        throw error;
      }
    });
}
