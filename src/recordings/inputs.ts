/** Gets the recordings of batches: downloads them, or finds them in BATCH_INPUT_DIR. */

import { createWriteStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PrivateAddressError } from '../foundation/addresses.ts';
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { isDiskTrouble } from '../foundation/folders/disk.ts';
import { FetchError, guardedFetch, networkCode, withinTime } from '../foundation/guarded-fetch.ts';
import { namedTargets } from '../foundation/outbound-targets.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { RecordingDisk } from './disk.ts';
import { findRecordings, isWithin } from './folder.ts';

/** Longest name of a recording of a batch. */
export const NAME_MAX_CHARS = 255;

/** The limits of getting a recording. */
export type InputSettings = Pick<
  Settings,
  'UPLOAD_MAX_BYTES' | 'UPLOAD_TIMEOUT_MS' | 'OUTBOUND_ALLOW' | 'BATCH_INPUT_DIR'
>;

/**
 * The path of the file at `location`, which is relative to BATCH_INPUT_DIR, with all links resolved.
 * @throws TrunklineError `input_refused` when it is not a file inside the folder; errors of a failing disk
 */
export async function findInput(location: string, folder: string): Promise<string> {
  if (folder === '') throw refused('paths are not taken (BATCH_INPUT_DIR is empty)');
  try {
    const root = await realpath(folder);
    const path = await realpath(resolve(root, location));
    if (isWithin(path, root) && (await stat(path)).isFile()) return path;
  } catch (error) {
    if (isDiskTrouble(error)) throw error;
    // Missing, unreadable and outside paths get the same message, so that clients cannot explore the file system.
  }
  throw refused('there is no such recording in BATCH_INPUT_DIR');
}

/**
 * Where a recording comes from. An upload is already in the batch's folder. A path is relative to BATCH_INPUT_DIR. A
 * file can be anywhere on this machine; its stamp changes when the file changes.
 */
export type Source =
  | { readonly kind: 'upload' }
  | { readonly kind: 'url' | 'path'; readonly location: string }
  | { readonly kind: 'file'; readonly location: string; readonly stamp: string };

/** A recording that a batch names, and where it is. */
interface Input {
  readonly name: string;
  readonly source: Source;
}

/**
 * Replaces each folder in `inputs` by the recordings in it, named by their paths. A folder without recordings stays,
 * and is refused later like any path that is not a recording.
 * @throws TrunklineError `invalid_request` when there are more than BATCH_FILES_MAX
 */
export async function expandFolders(
  inputs: readonly Input[],
  { BATCH_INPUT_DIR, BATCH_FILES_MAX }: Pick<Settings, 'BATCH_INPUT_DIR' | 'BATCH_FILES_MAX'>,
): Promise<Input[]> {
  const expanded: Input[] = [];
  for (const input of inputs) {
    const before = expanded.length;
    for await (const found of recordingsAt(input, BATCH_INPUT_DIR)) {
      expanded.push(found);
      if (expanded.length > BATCH_FILES_MAX) throw tooManyFiles(BATCH_FILES_MAX);
    }
    if (expanded.length === before) expanded.push(input);
  }
  if (expanded.length > BATCH_FILES_MAX) throw tooManyFiles(BATCH_FILES_MAX);
  return expanded;
}

/** Yields nothing when `input` is not a readable folder. */
async function* recordingsAt({ source }: Input, inputFolder: string): AsyncGenerator<Input, void, void> {
  const folder = source.kind === 'path' ? await findFolder(source.location, inputFolder) : null;
  if (source.kind !== 'path' || folder === null) return;
  try {
    for await (const { name } of findRecordings(folder.path, folder.root)) {
      const location = join(source.location, name);
      yield { name: location.slice(-NAME_MAX_CHARS), source: { kind: 'path', location } };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
  }
}

async function findFolder(location: string, inputFolder: string): Promise<{ path: string; root: string } | null> {
  if (inputFolder === '') return null;
  try {
    const root = await realpath(inputFolder);
    const path = await realpath(resolve(root, location));
    return isWithin(path, root) && (await stat(path)).isDirectory() ? { path, root } : null;
  } catch {
    return null;
  }
}

/** A batch that is too large. */
export function tooManyFiles(filesMax: number): TrunklineError {
  return new TrunklineError('invalid_request', `got more than ${filesMax} recordings, which is the most allowed`);
}

interface Download {
  readonly url: string;
  readonly to: string;
  readonly disk: RecordingDisk;
  readonly settings: InputSettings;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Downloads `url` to the file `to`, which is removed when this fails.
 * @throws TrunklineError `input_refused`, `upload_too_large`, `upload_disk_full`; errors of a full disk; the
 * reason of `signal`
 */
export async function download({ url, to, disk, settings, clock, signal }: Download): Promise<void> {
  const timeoutMs = settings.UPLOAD_TIMEOUT_MS;
  try {
    await withinTime({ clock, timeoutMs, signal }, async (either) => {
      const { response } = await guardedFetch({
        url,
        allowPrivate: namedTargets(settings.OUTBOUND_ALLOW, 'batches'),
        signal: either,
      });
      if (response.statusCode !== 200) {
        response.destroy();
        throw refused(`the server of the URL answered ${response.statusCode}, expected 200`);
      }
      await pipeline(response, limitBytes(settings.UPLOAD_MAX_BYTES), disk.meter(to), createWriteStream(to), {
        signal: either,
      });
    });
  } catch (error) {
    await disk.remove(to).catch(() => undefined);
    if (signal.aborted) throw signal.reason;
    if (error instanceof TrunklineError || isDiskTrouble(error)) throw error;
    if (error instanceof FetchError && error.failure === 'late')
      throw refused(`the URL did not answer in full within ${timeoutMs} ms (UPLOAD_TIMEOUT_MS)`);
    if (error instanceof PrivateAddressError)
      throw refused('the URL leads into a private network, expected a public address (OUTBOUND_ALLOW)');
    throw refused(`the URL cannot be read (${networkCode(error)})`);
  }
}

/** Passes on at most `maxBytes` (UPLOAD_MAX_BYTES); more fails with TrunklineError `upload_too_large`. */
export function limitBytes(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= maxBytes) return done(null, chunk);
      done(
        new TrunklineError(
          'upload_too_large',
          `the recording is larger than ${maxBytes} bytes, which is the most allowed (UPLOAD_MAX_BYTES)`,
        ),
      );
    },
  });
}

function refused(why: string): TrunklineError {
  return new TrunklineError('input_refused', `the recording is not available: ${why}`);
}
