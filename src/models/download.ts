/** Gets a published archive or file from its publisher's address, and goes on where an earlier try ended. */
import { open, rename, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { PrivateAddressError } from '../foundation/addresses.ts';
import { type Clock, sleep } from '../foundation/clock.ts';
import { PRIVATE_FILE_MODE } from '../foundation/folders/folders.ts';
import { FetchError, guardedFetch, networkCode } from '../foundation/guarded-fetch.ts';
import type { KnownBytes } from './catalog-model.ts';
import { type Checksums, checksumsOf, isSame } from './checksum.ts';
import type { OnBytes } from './pieces.ts';

/** How a download is done. */
export interface DownloadOptions {
  readonly url: string;
  /** Where it goes; a file beside it holds what has come so far. */
  readonly path: string;
  readonly known: KnownBytes;
  /** Whether addresses of this machine and of private networks are allowed. */
  readonly allowPrivate: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onBytes: OnBytes;
}

/** Why an address did not give what was expected. `message` names what came. */
export class DownloadError extends Error {}

/** A connection that breaks is made again so often, as long as each brings something. */
const TRIES_MAX = 20;
const PAUSE_MS = 1000;
/** A server that sends nothing for so long has gone. */
const SILENCE_MAX_MS = 60_000;

/**
 * Downloads what is `known`.
 * @throws DownloadError when the server refuses or what comes has another size or checksum; errors of the disk; the
 * reason of the signal
 */
export async function download(options: DownloadOptions): Promise<void> {
  const { path, known, clock, signal } = options;
  const part = `${path}.part`;
  for (let tries = 1; ; tries++) {
    const before = await sizeOf(part);
    if (before === known.bytes) break;
    try {
      await fetchRest(options, part, before < known.bytes ? before : 0);
      break;
    } catch (error) {
      signal.throwIfAborted();
      const isLost = !(error instanceof DownloadError) && !isOfDisk(error);
      const isFruitless = (await sizeOf(part)) <= before;
      if (!isLost || isFruitless || tries === TRIES_MAX) throw explain(error);
      await sleep(clock, PAUSE_MS);
    }
  }
  const found = await checksumsOf(part);
  if (!isSame(found, known)) {
    await rm(part, { force: true });
    throw new DownloadError(`what came has the ${describeDifference(found, known)}`);
  }
  await rename(part, path);
}

function describeDifference({ sha256, crc32c }: Checksums, known: KnownBytes): string {
  if ('sha256' in known) return `SHA-256 ${sha256}, expected ${known.sha256}`;
  return `CRC-32C ${crc32c}, expected ${known.crc32c}`;
}

async function fetchRest(options: DownloadOptions, part: string, from: number): Promise<void> {
  const { url, known, allowPrivate, clock, signal, onBytes } = options;
  const silence = new AbortController();
  let timer = clock.after(SILENCE_MAX_MS, () => silence.abort());
  const both = AbortSignal.any([signal, silence.signal]);
  const headers: Record<string, string> = from === 0 ? {} : { range: `bytes=${from}-` };
  try {
    const { response } = await guardedFetch({
      url,
      allowPrivate,
      signal: both,
      prepare: (hop) => ({ url: hop, method: 'GET', headers }),
    });
    try {
      const at = beginningOf(response, from);
      await append(response, part, at, known.bytes, (bytes) => {
        timer.cancel();
        timer = clock.after(SILENCE_MAX_MS, () => silence.abort());
        onBytes(bytes);
      });
    } finally {
      response.destroy();
    }
  } finally {
    timer.cancel();
  }
}

/** The byte that a response begins with: servers may give the whole in spite of a range. RFC 9110, 14.2 */
function beginningOf({ statusCode, headers }: IncomingMessage, from: number): number {
  if (statusCode === 200) return 0;
  const range = headers['content-range'] ?? '';
  if (statusCode === 206 && from > 0 && range.startsWith(`bytes ${from}-`)) return from;
  throw new DownloadError(`the server answered ${statusCode}${range === '' ? '' : ` with ${range}`}, expected 200`);
}

async function append(
  response: IncomingMessage,
  part: string,
  from: number,
  bytes: number,
  onBytes: OnBytes,
): Promise<void> {
  const file = await open(part, from === 0 ? 'w' : 'r+', PRIVATE_FILE_MODE);
  let at = from;
  onBytes(from);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (at + chunk.length > bytes) throw new DownloadError(`more came than the ${bytes} bytes that were expected`);
      await file.write(chunk, 0, chunk.length, at);
      at += chunk.length;
      onBytes(chunk.length);
    }
    await file.sync();
  } catch (error) {
    onBytes(-at);
    throw error;
  } finally {
    await file.close();
  }
  if (at < bytes) throw new Error('the connection ended too early');
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

function isOfDisk(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EIO', 'EACCES', 'EROFS', 'EPERM'].includes(networkCode(error));
}

function explain(error: unknown): unknown {
  if (error instanceof DownloadError || isOfDisk(error)) return error;
  if (error instanceof PrivateAddressError || error instanceof FetchError) return new DownloadError(error.message);
  const code = networkCode(error);
  return new DownloadError(code === 'no code' ? 'the connection ended too early' : `unreachable (${code})`);
}
