/**
 * Events that the database refuses for what is in them: they are kept in DATA_DIR/refused, a file for each call, until
 * they can be stored or their call is deleted.
 */
import { createHash } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Insertable } from 'kysely';
import { describeTrouble, mayBeOfOneStatement, stateOf } from '../foundation/database/trouble.ts';
import { makePrivateFolder, PRIVATE_FILE_MODE } from '../foundation/folders/folders.ts';
import type { RecordedEvent, RecordWriter } from './record-writer.ts';
import type { CallsTable } from './tables.ts';

/** Their folder in DATA_DIR. */
export const REFUSED = 'refused';

const NAME = /^[0-9a-f]{32}\.jsonl$/;

/** Further events are lost, which is told: so many show that something else is wrong. */
export const REFUSED_MAX_BYTES = 64 * 1024 * 1024;

/** One line of a file. */
interface RefusedLine {
  readonly event: Omit<RecordedEvent, 'tally'>;
  /** The call as it was then; null = another event has it. */
  readonly call: Insertable<CallsTable> | null;
  /** SQLSTATE, or what the database said where it has none. */
  readonly why: string;
}

/** What there is in the folder. */
export interface RefusedReport {
  readonly events: number;
  readonly bytes: number;
  readonly calls: readonly { readonly callId: string; readonly events: number; readonly why: readonly string[] }[];
}

/** The folder of one gateway. */
export class RefusedEvents {
  readonly #folder: string;
  readonly #maxBytes: number;
  #bytes: Promise<number> | null = null;
  /** One reads or writes at a time. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param dataFolder DATA_DIR, owned by this process */
  constructor(dataFolder: string, maxBytes = REFUSED_MAX_BYTES) {
    this.#folder = join(dataFolder, REFUSED);
    this.#maxBytes = maxBytes;
  }

  /** Resolves with false when there is no room for it. @throws the system's error */
  keep(event: RecordedEvent, error: unknown): Promise<boolean> {
    return this.#inTurn(async () => {
      await makePrivateFolder(this.#folder, (name) => NAME.test(name));
      const line = Buffer.from(`${JSON.stringify(lineOf(event, error))}\n`);
      this.#bytes ??= this.#count();
      const bytes = await this.#bytes;
      if (bytes + line.length > this.#maxBytes) return false;
      const file = await open(this.#pathOf(event.callId), 'a', PRIVATE_FILE_MODE);
      try {
        await file.writeFile(line);
        await file.sync();
      } finally {
        await file.close();
      }
      this.#bytes = Promise.resolve(bytes + line.length);
      return true;
    });
  }

  /** What waits there. @throws the system's error */
  report(): Promise<RefusedReport> {
    return this.#inTurn(async () => {
      const calls: { callId: string; events: number; why: string[] }[] = [];
      for (const path of await this.#files()) {
        const lines = await readLines(path);
        const callId = lines[0]?.event.callId;
        if (callId === undefined) continue;
        calls.push({ callId, events: lines.length, why: [...new Set(lines.map(({ why }) => why))] });
      }
      const events = calls.reduce((sum, call) => sum + call.events, 0);
      return { events, bytes: await this.#count(), calls };
    });
  }

  /**
   * Stores by `writer` what can be stored now, and keeps the rest.
   * @throws the error of the database while it is away; what was stored until then is not kept any more
   */
  retry(writer: Pick<RecordWriter, 'write' | 'rowOf'>): Promise<{ readonly stored: number; readonly left: number }> {
    return this.#inTurn(async () => {
      let [stored, left] = [0, 0];
      for (const path of await this.#files()) {
        const lines = await readLines(path);
        const refused = await storeLines(lines, writer, (rest) => this.#replace(path, rest));
        await this.#replace(path, refused);
        stored += lines.length - refused.length;
        left += refused.length;
      }
      return { stored, left };
    });
  }

  /** Forgets a call. @throws the system's error */
  remove(callId: string): Promise<void> {
    return this.#inTurn(() => this.#replace(this.#pathOf(callId), []));
  }

  /** Forgets calls of which nothing was added since `beforeMs`. @throws the system's error */
  removeBefore(beforeMs: number): Promise<void> {
    return this.#inTurn(async () => {
      for (const path of await this.#files()) if ((await stat(path)).mtimeMs < beforeMs) await this.#replace(path, []);
    });
  }

  #pathOf(callId: string): string {
    return join(this.#folder, `${createHash('sha256').update(callId).digest('hex').slice(0, 32)}.jsonl`);
  }

  async #files(): Promise<string[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names.filter((name) => NAME.test(name)).map((name) => join(this.#folder, name));
  }

  async #count(): Promise<number> {
    let bytes = 0;
    for (const path of await this.#files()) bytes += (await stat(path)).size;
    return bytes;
  }

  async #replace(path: string, lines: readonly RefusedLine[]): Promise<void> {
    this.#bytes = null;
    if (lines.length === 0) return rm(path, { force: true });
    const draft = `${path}.part`;
    await writeFile(draft, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), {
      mode: PRIVATE_FILE_MODE,
      flush: true,
    });
    await rename(draft, path);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function lineOf({ tally, ...event }: RecordedEvent, error: unknown): RefusedLine {
  const why = stateOf(error) ?? describeTrouble(error instanceof Error ? error : new Error(String(error)));
  return { event, call: tally?.row() ?? null, why };
}

/** A last line that a crash cut short is left out. */
async function readLines(path: string): Promise<RefusedLine[]> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as RefusedLine];
    } catch {
      return [];
    }
  });
}

/** Returns those that are refused again; `onAway` gets all that are not stored when the database is away. */
async function storeLines(
  lines: readonly RefusedLine[],
  writer: Pick<RecordWriter, 'write' | 'rowOf'>,
  onAway: (rest: readonly RefusedLine[]) => Promise<void>,
): Promise<RefusedLine[]> {
  const refused: RefusedLine[] = [];
  for (const [index, line] of lines.entries()) {
    try {
      await writer.write([await recordedOf(line, writer)], null);
    } catch (error) {
      if (!mayBeOfOneStatement(error)) {
        await onAway([...refused, ...lines.slice(index)]);
        throw error;
      }
      refused.push(line);
    }
  }
  return refused;
}

/** The call's row is written only where it says more than the one that is stored, which may be newer. */
async function recordedOf({ event, call }: RefusedLine, writer: Pick<RecordWriter, 'rowOf'>): Promise<RecordedEvent> {
  const stored = await writer.rowOf(event.callId);
  const isOpen = stored?.state !== 'ended' || stored.end_reason === 'server_lost';
  if (call === null || (stored !== undefined && !(call.state === 'ended' && isOpen))) return { ...event, tally: null };
  const { seq: _seq, ...row } = call;
  return { ...event, tally: { id: event.callId, seq: null, row: () => row } };
}
