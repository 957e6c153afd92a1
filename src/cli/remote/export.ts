/** `trunkline export`: the calls of a search with their transcripts, as one stream. */
import { stat } from 'node:fs/promises';
import { writePrivate } from '../../foundation/folders/whole-file.ts';
import { formatBytes } from '../../foundation/format-bytes.ts';
import type { ExportFormat } from '../../records/export/export-formats.ts';
import { EXIT_INTERRUPTED, EXIT_OK } from '../exit-codes.ts';
import { Interruption } from '../interruption.ts';
import type { Output } from '../terminal.ts';
import type { RemoteContext } from './context.ts';
import { type FilterFlags, queryOf } from './filters.ts';

/** What is exported, and to which file; without one, to standard output. */
export interface ExportFlags extends FilterFlags {
  readonly format: ExportFormat;
  readonly out?: string;
}

/** Exports; a file is there whole or as it was before. @throws ServerRefused, or the system's error of the file */
export async function exportCalls(
  words: readonly string[],
  { format, out: path, ...filters }: ExportFlags,
  { server, json, terminal: { out, err } }: RemoteContext,
): Promise<number> {
  const query = queryOf(words, filters);
  query.set('format', format);
  if (path !== undefined) await assertReplaceable(path);
  const stop = new AbortController();
  const interruption = new Interruption(() => stop.abort());
  const content = server.stream(`/v1/calls/export?${query}`, stop.signal);
  try {
    if (path === undefined) {
      await print(content, out);
    } else {
      const tally = { bytes: 0 };
      await writePrivate(path, counted(content, tally), `${path}.${process.pid}.part`);
      if (json) out.line(JSON.stringify({ path, bytes: tally.bytes }));
      else err.line(`${path}: ${formatBytes(tally.bytes)}`);
    }
    return EXIT_OK;
  } catch (error) {
    if (interruption.came) return EXIT_INTERRUPTED;
    throw error;
  } finally {
    interruption.ignore();
  }
}

/** A device or a pipe would be replaced by a file. */
async function assertReplaceable(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found !== null && !found.isFile()) throw new Error(`${path} is no file: leave out --out and redirect the output`);
}

async function print(content: AsyncIterable<Uint8Array>, out: Output): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of content) {
    out.raw(decoder.decode(chunk, { stream: true }));
    if (out.isClosed) return;
  }
}

async function* counted(content: AsyncIterable<Uint8Array>, tally: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    tally.bytes += chunk.byteLength;
    yield chunk;
  }
}
