/** The wire fixtures of a carrier, and what its dialect must make of them by the tables of their README. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TrunklineError } from '../../src/foundation/errors.ts';
import type { CallStart, CarrierEvent, Dialect, WireMessage } from '../../src/protocols/dialect.ts';
import { toMessage } from '../helpers/wire.ts';

const ROOT = join(import.meta.dirname, '../../fixtures/wire');

/** One carrier's fixtures. */
export class WireFixtures {
  readonly #folder: string;
  readonly #open: () => Dialect;
  readonly #start: string;

  /** `open` makes a dialect; `start` is the file that begins a stream. */
  constructor(options: { readonly carrier: string; readonly open: () => Dialect; readonly start?: string }) {
    this.#folder = join(ROOT, options.carrier);
    this.#open = options.open;
    this.#start = options.start ?? 'good/start.json';
  }

  read(file: string): string {
    return readFileSync(join(this.#folder, file), 'utf8');
  }

  /** The messages of a stream. */
  messages(file: string): WireMessage[] {
    return this.read(file).trimEnd().split('\n').map(toMessage);
  }

  /** A dialect that has seen `start`. */
  started(start = this.#start): Dialect {
    const dialect = this.#open();
    dialect.receive(this.read(start));
    return dialect;
  }

  /** What the start message in `file` tells. */
  startOf(file = this.#start): CallStart {
    const [event] = eventsOf(this.#open(), this.read(file));
    if (event?.type !== 'start') throw new Error(`${file} is ${event?.type}`);
    return event.start;
  }

  /** What a started stream makes of the message in `file`. */
  eventOf(file: string, start = this.#start): CarrierEvent {
    const [event, ...more] = eventsOf(this.started(start), this.read(file));
    if (event === undefined || more.length > 0) throw new Error(`${file} gives ${more.length + 1} events`);
    return event;
  }

  /** The tests that hold every file against the tables of the README. */
  describe(): void {
    const rows = [...this.read('README.md').matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)].map(
      ([, file = '', gives = '']) => [file, gives.trim()] as const,
    );
    const begins = (file: string) => /start|connected|parameter/.test(file);
    describe('the wire fixtures', () => {
      it('all stand in the README', () => {
        const files = readdirSync(this.#folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
          /\.jsonl?$/.test(file),
        );
        expect(rows.map(([file]) => file).sort()).toEqual(files.sort());
      });

      it.each(rows.filter(([file]) => file.endsWith('.json')))('%s → %s', (file, gives) => {
        expect(outcome(begins(file) ? this.#open() : this.started(), this.read(file))).toBe(gives);
      });

      it.each(rows.filter(([file]) => file.endsWith('.jsonl')))('%s → %s', (file, gives) => {
        const dialect = this.#open();
        expect(this.messages(file).map((message) => outcome(dialect, message))).toEqual(expand(gives));
      });
    });
  }
}

/** All that a message gives. */
export function eventsOf(dialect: Dialect, message: WireMessage): CarrierEvent[] {
  return [dialect.receive(message)].flat();
}

/** One word for each event that a message gave: its type, or what is ignored; or the error's code. */
export function outcome(dialect: Dialect, message: WireMessage): string {
  try {
    const words = eventsOf(dialect, message).map((event) =>
      event.type === 'ignored' ? `ignored ${event.what}` : event.type,
    );
    return words.join(' + ');
  } catch (error) {
    if (error instanceof TrunklineError) return error.code;
    throw error;
  }
}

function expand(gives: string): string[] {
  return gives.split(', ').flatMap((each) => {
    const [word = '', times = '1'] = each.split(' ×');
    return Array<string>(Number(times)).fill(word);
  });
}
