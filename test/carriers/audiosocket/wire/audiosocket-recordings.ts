/** Recordings of a real Asterisk 22.10: what it said over AudioSocket, and what was said to it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeG711 } from '../../../../src/audio/g711.ts';
import { AudioSocketDialect, AudioSocketFramer } from '../../../../src/carriers/audiosocket/wire/audiosocket.ts';
import { TrunklineError } from '../../../../src/foundation/errors.ts';
import type { Codec } from '../../../../src/foundation/units.ts';
import type { CarrierEvent } from '../../../../src/protocols/dialect.ts';

const FOLDER = join(import.meta.dirname, '../../../../fixtures/calls/audiosocket');
const MESSAGE_MAX_BYTES = 65_536;

interface Line {
  readonly ms: number;
  readonly dir: 'ast>us' | 'us>ast';
  readonly op: 'frame' | 'tcp-fin' | 'tcp-error' | 'tcp-closed';
  readonly type: string;
  readonly len: number;
  readonly uuid?: string;
  readonly digit?: string;
  readonly rms?: number;
}

/** One message as it was on the wire. Of sound the size and the level were kept: the rest of it is a tone. */
export interface RecordedMessage {
  readonly atMs: number;
  readonly fromAsterisk: boolean;
  readonly bytes: Uint8Array;
}

/** A recording. */
export interface Recording {
  readonly messages: readonly RecordedMessage[];
  /** How Asterisk ended the connection: closed it, or reset it. */
  readonly end: 'fin' | 'error';
  readonly endedAtMs: number;
}

/** The names of all recordings. */
export function recordingNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.jsonl'))
    .sort();
}

/** The recording of that name. */
export function readRecording(name: string): Recording {
  const [head = '', ...rest] = readFileSync(join(FOLDER, name), 'utf8').trimEnd().split('\n');
  const { codec } = JSON.parse(head) as { codec: string };
  const lines = rest.map((line) => JSON.parse(line) as Line);
  const end = lines.find(({ op }) => op !== 'frame');
  return {
    messages: lines
      .filter(({ op }) => op === 'frame')
      .map((line, index) => ({
        atMs: line.ms,
        fromAsterisk: line.dir === 'ast>us',
        bytes: wireForm(line, index, codec),
      })),
    end: end?.op === 'tcp-error' ? 'error' : 'fin',
    endedAtMs: end?.ms ?? 0,
  };
}

function wireForm(line: Line, index: number, codec: string): Uint8Array {
  const payload = payloadOf(line, index, line.dir === 'ast>us' ? codec : 'slin').subarray(0, line.len);
  return Buffer.concat([Buffer.from([Number(line.type), line.len >> 8, line.len & 0xff]), payload]);
}

function payloadOf({ uuid, digit, len, rms = 0 }: Line, index: number, codec: string): Uint8Array {
  if (uuid !== undefined) return Buffer.from(uuid, 'hex');
  if (digit !== undefined) return Buffer.from(digit, 'ascii');
  const name: Codec['name'] = codec === 'ulaw' ? 'mulaw' : codec === 'alaw' ? 'alaw' : 'pcm16';
  const level = Math.min(rms * Math.SQRT2, 32_767);
  const samples = Int16Array.from({ length: len }, (_, i) => level * Math.sin((index * len + i) / 3));
  return encodeG711(samples, { name, rateHz: 8000, channels: 1, bytesPerSample: 1 });
}

/** The table of the recordings' README: name → what the dialect makes of it. */
export function readTable(): [name: string, gives: string][] {
  const readme = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  return [...readme.matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)].map(([, name = '', gives = '']) => [name, gives.trim()]);
}

/** What is made of the bytes of a connection that TCP has split after each of `splits` bytes, over and over. */
export function hear(bytes: Uint8Array, splits: readonly number[] = [bytes.length]): (CarrierEvent | TrunklineError)[] {
  const framer = new AudioSocketFramer(MESSAGE_MAX_BYTES);
  const dialect = new AudioSocketDialect('s1');
  const events: (CarrierEvent | TrunklineError)[] = [];
  try {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = Math.max(splits[turn % splits.length] ?? 1, 1);
      for (const { kind, payload } of framer.push(bytes.subarray(at, at + size)))
        events.push(...dialect.receive({ kind, payload: new Uint8Array(payload) }));
      at += size;
    }
  } catch (error) {
    if (!(error instanceof TrunklineError)) throw error;
    events.push(error);
  }
  return events;
}

/** What the dialect makes of all that Asterisk said. */
export function replay(name: string, splits?: readonly number[]): (CarrierEvent | TrunklineError)[] {
  const said = readRecording(name).messages.filter(({ fromAsterisk }) => fromAsterisk);
  return hear(Buffer.concat(said.map(({ bytes }) => bytes)), splits);
}
