/**
 * Fetches the packages that hold a model, by the operator's own programs first: pip, uv and npm know the operator's
 * mirrors, proxies and passwords. The publisher's address is the last try.
 */
import { execFile } from 'node:child_process';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../foundation/clock.ts';
import { makeFolder, PRIVATE_FILE_MODE } from '../foundation/folders/folders.ts';
import { childEnvironment } from '../foundation/settings/config.ts';
import type { Package } from './catalog-model.ts';
import { sha256Of } from './checksum.ts';
import { DownloadError, download } from './download.ts';
import type { OnBytes } from './pieces.ts';

/** What fetching needs of the world; tests have their own. */
export interface FetchOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Whether publishers' addresses may be private ones. */
  readonly allowPrivate: boolean;
  /** Is told which program or address is tried. */
  onTry(what: string): void;
  readonly onBytes: OnBytes;
}

/** No source has given a package or a file. `reasons` has a line for each source that was tried. */
export class FetchFailed extends Error {
  readonly reasons: readonly string[];

  /** @param what was not fetched, for people */
  constructor(what: string, reasons: readonly string[]) {
    super(`${what} could not be fetched`);
    this.reasons = reasons;
  }
}

/** Wheels without native code are the same for all; this one lets an old Python fetch those for newer ones. */
const PYTHON_VERSION = '3.12';
const PROGRAM_TIMEOUT_MS = 30 * 60_000;
const OUTPUT_MAX_BYTES = 4_000_000;
const REASON_MAX_CHARS = 300;

/** pip, by the names under which it is found. */
const PIPS: readonly (readonly string[])[] = [['pip3'], ['pip'], ['python3', '-m', 'pip']];

const NOT_INSTALLED = 'not installed';
const NO_MODULE = /No module named pip/;

const run = promisify(execFile);

/** What people type to get `packages` into `folder` on another machine. */
export function commandsFor(packages: readonly Package[], folder: string): string[] {
  const named = (kind: Package['kind'], mark: string) =>
    packages.filter((one) => one.kind === kind).map(({ name, version }) => `${name}${mark}${version}`);
  const [wheels, tarballs] = [named('pip', '=='), named('npm', '@')];
  return [
    ...(wheels.length === 0 ? [] : [`pip ${pipArguments(folder).join(' ')} ${wheels.join(' ')}`]),
    ...(tarballs.length === 0 ? [] : [`npm pack ${tarballs.join(' ')} --pack-destination ${folder}`]),
  ];
}

/**
 * Fetches `wanted` into `folder`, unless it is there. Returns the archive, or the folder into which it was unpacked.
 * @throws FetchFailed; errors of the disk; the reason of the signal
 */
export async function fetchPackage(wanted: Package, folder: string, options: FetchOptions): Promise<string> {
  const archive = join(folder, wanted.file);
  await makeFolder(folder, 0o700);
  if (await isKnown(archive, wanted)) return archive;
  const reasons: string[] = [];
  const programs = wanted.kind === 'npm' ? [byNpm] : [byPip, byUv];
  for (const fetch of [...programs, byAddress]) {
    options.signal.throwIfAborted();
    const outcome = await fetch(wanted, folder, options);
    if ('path' in outcome) return outcome.path;
    reasons.push(outcome.reason);
  }
  throw new FetchFailed(`${wanted.name} ${wanted.version}`, reasons);
}

/** The path of what was fetched, or why nothing was. */
type Outcome = { readonly path: string } | { readonly reason: string };

function pipArguments(folder: string): string[] {
  const any = ['--no-deps', '--only-binary=:all:', '--python-version', PYTHON_VERSION];
  return ['download', ...any, '--dest', folder];
}

/** By the first pip that is installed: another one would fail for the same reason. */
async function byPip(wanted: Package, folder: string, options: FetchOptions): Promise<Outcome> {
  options.onTry('pip');
  const list = await writeRequirements(wanted, folder);
  const quiet = ['--no-input', '--quiet', '--disable-pip-version-check', '--progress-bar', 'off'];
  const words = [...pipArguments(folder), ...quiet, '--require-hashes', '--requirement', list];
  for (const pip of PIPS) {
    const label = pip.join(' ');
    const reason = await runProgram([...pip, ...words], options);
    if (reason === null) return checkArchive(wanted, folder, label);
    if (reason !== NOT_INSTALLED) return { reason: `${label}: ${reason}` };
  }
  return { reason: `pip: ${NOT_INSTALLED}` };
}

/** uv has no `download`: it unpacks the wheel into a folder, where its files are found by their SHA-256. */
async function byUv(wanted: Package, folder: string, options: FetchOptions): Promise<Outcome> {
  options.onTry('uv');
  const list = await writeRequirements(wanted, folder);
  const target = join(folder, `${wanted.file}.unpacked`);
  await rm(target, { recursive: true, force: true });
  const how = ['--no-deps', '--no-build', '--python-version', PYTHON_VERSION, '--link-mode', 'copy', '--quiet'];
  const words = ['uv', 'pip', 'install', '--target', target, ...how, '--require-hashes', '--requirements', list];
  const reason = await runProgram(words, options);
  return reason === null ? { path: target } : { reason: `uv: ${reason}` };
}

async function byNpm(wanted: Package, folder: string, options: FetchOptions): Promise<Outcome> {
  options.onTry('npm');
  const what = `${wanted.name}@${wanted.version}`;
  const words = ['npm', 'pack', what, '--pack-destination', folder, '--ignore-scripts', '--silent'];
  const reason = await runProgram(words, options);
  return reason === null ? checkArchive(wanted, folder, 'npm') : { reason: `npm: ${reason}` };
}

async function byAddress(wanted: Package, folder: string, options: FetchOptions): Promise<Outcome> {
  const { host } = new URL(wanted.url);
  const path = join(folder, wanted.file);
  options.onTry(host);
  try {
    await download({ ...options, url: wanted.url, path, known: wanted });
    return { path };
  } catch (error) {
    if (error instanceof DownloadError) return { reason: `${host}: ${error.message}` };
    throw error;
  }
}

/** A file that pip and uv read: they check the SHA-256 before they open what they have fetched. */
async function writeRequirements({ name, version, file, sha256 }: Package, folder: string): Promise<string> {
  const path = join(folder, `${file}.requirements.txt`);
  await writeFile(path, `${name}==${version} --hash=sha256:${sha256}\n`, { mode: PRIVATE_FILE_MODE });
  return path;
}

/** Null when the program has done it, or why it has not. @throws the reason of the signal */
async function runProgram(words: readonly string[], { signal }: FetchOptions): Promise<string | null> {
  const [program = '', ...args] = words;
  try {
    await run(program, args, {
      env: { ...childEnvironment({}) },
      signal,
      timeout: PROGRAM_TIMEOUT_MS,
      maxBuffer: OUTPUT_MAX_BYTES,
    });
    return null;
  } catch (error) {
    signal.throwIfAborted();
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === 'ENOENT' || NO_MODULE.test(stderr)) return NOT_INSTALLED;
    return errorLine(stderr) || `it ended with ${code}`;
  }
}

/** The line that says what went wrong: the programs write causes, hints and stack traces behind it. */
function errorLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const line = lines.find((one) => /^(npm )?err(or)?\b/i.test(one)) ?? lines.findLast((one) => one !== '') ?? '';
  return line.slice(0, REASON_MAX_CHARS);
}

async function checkArchive(wanted: Package, folder: string, label: string): Promise<Outcome> {
  const path = join(folder, wanted.file);
  if (await isKnown(path, wanted)) return { path };
  // Kept out of the way of the next source.
  await rename(path, `${path}.wrong`).catch(() => undefined);
  return { reason: `${label}: ${wanted.file} has another size or SHA-256 than ${wanted.name} ${wanted.version}` };
}

async function isKnown(path: string, { bytes, sha256 }: Package): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.size === bytes && (await sha256Of(path)) === sha256;
}
