/**
 * Puts the files of onnxruntime's CUDA provider where onnxruntime looks for them, from whatever holds them: a wheel, an
 * archive of a release, a package of NuGet, an unpacked folder.
 */
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { majorOf, PROVIDER_FILES } from '../../../engine/cuda/cuda-report.ts';
import { ElfError, readElf } from '../../../engine/cuda/elf.ts';
import { readBounded } from '../../foundation/bounded-body.ts';
import type { Entry } from '../../models/archives.ts';
import { suppliesIn } from '../../models/supplies.ts';

/** Where the provider belongs. */
export interface ProviderPlace {
  /** Of onnxruntime's own library. */
  readonly folder: string;
  /** Of onnxruntime-node: a provider of another version would not fit. */
  readonly version: string;
}

/** A provider that is in its place. */
export interface InstalledProvider {
  /** The CUDA version that it was built for. */
  readonly major: number;
  readonly bytes: number;
}

/** All users may load the files. */
const FILE_MODE = 0o644;
const FILE_MAX_BYTES = 2 ** 31;
const METADATA_MAX_BYTES = 1_000_000;

/** Files in which the makers of the archives say which version it is, and how. */
const METADATA: readonly (readonly [name: RegExp, version: RegExp])[] = [
  [/(?:^|\/)onnxruntime_gpu[^/]*\.dist-info\/METADATA$/, /^Version: (\S+)$/m],
  [/(?:^|\/)VERSION_NUMBER$/, /^(\S+)/],
  [/\.nuspec$/, /<version>([^<]+)<\/version>/],
];

/** The version of the onnxruntime-node in `root`. @throws errors of the disk */
export async function versionIn(root: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/**
 * Takes the provider from the file or folder at `from`. Both files are written beside their places and checked; only
 * then they are moved into them.
 * @throws Error that says what is missing or does not fit; errors of the disk
 */
export async function installProvider(from: string, { folder, version }: ProviderPlace): Promise<InstalledProvider> {
  const drafts = PROVIDER_FILES.map((name) => ({ name, path: join(folder, `.${name}.${process.pid}.part`) }));
  try {
    const found = await collect(from, drafts, version);
    const missing = PROVIDER_FILES.filter((name) => !found.has(name));
    if (missing.length > 0) throw new Error(`${from} has no ${missing.join(' and no ')}`);
    const major = await checkProvider(drafts, version, from);
    // The one that makes it usable comes last.
    for (const { name, path } of drafts) await rename(path, join(folder, name));
    return { major, bytes: [...found.values()].reduce((sum, bytes) => sum + bytes, 0) };
  } finally {
    for (const { path } of drafts) await rm(path, { force: true });
  }
}

interface Draft {
  readonly name: (typeof PROVIDER_FILES)[number];
  readonly path: string;
}

/** Bytes of the files that were found; the first of each name counts. */
async function collect(from: string, drafts: readonly Draft[], version: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for await (const entry of suppliesIn(from)) {
    await checkMetadata(entry, version, from);
    const draft = drafts.find(({ name }) => name === basename(entry.path) && !found.has(name));
    if (draft === undefined) continue;
    if (entry.bytes > FILE_MAX_BYTES)
      throw new Error(`${from}: ${entry.path} has ${entry.bytes} bytes, expected at most ${FILE_MAX_BYTES}`);
    found.set(draft.name, await write(entry, draft.path));
  }
  return found;
}

async function checkMetadata(entry: Entry, version: string, from: string): Promise<void> {
  const [, pattern] = METADATA.find(([name]) => name.test(entry.path)) ?? [];
  if (pattern === undefined || entry.bytes > METADATA_MAX_BYTES) return;
  const text = await readBounded(entry.read(), METADATA_MAX_BYTES);
  const found = pattern.exec(Buffer.from(text ?? []).toString('utf8'))?.[1];
  if (found !== undefined && found !== version) throw otherVersion(from, `version ${found}`, version);
}

async function write(entry: Entry, path: string): Promise<number> {
  const file = await open(path, 'w', FILE_MODE);
  let bytes = 0;
  try {
    for await (const chunk of entry.read()) {
      await file.writeFile(chunk);
      bytes += chunk.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return bytes;
}

/** The CUDA version of a provider that fits. */
async function checkProvider(drafts: readonly Draft[], version: string, from: string): Promise<number> {
  const heads = drafts.map(({ name, path }) => ({ name, path, ...headOf(path, name, from) }));
  const foreign = heads.find(({ machine }) => machine !== 'x64');
  if (foreign !== undefined) throw new Error(`${from}: ${foreign.name} is for ${foreign.machine}, expected x64`);
  const cuda = heads[1];
  const major = cuda === undefined ? null : majorOf(cuda.needed);
  if (cuda === undefined || major === null) throw new Error(`${from}: ${PROVIDER_FILES[1]} needs no CUDA`);
  if (!(await hasText(cuda.path, version))) throw otherVersion(from, 'another version', version);
  return major;
}

function headOf(path: string, name: string, from: string): ReturnType<typeof readElf> {
  try {
    return readElf(path);
  } catch (error) {
    if (error instanceof ElfError) throw new Error(`${from}: ${name}: ${error.message}`);
    throw error;
  }
}

function otherVersion(from: string, found: string, version: string): Error {
  return new Error(`${from}: got ${found} of the CUDA provider, expected ${version}, which onnxruntime-node has`);
}

/** Whether the program has `version` as a text of its own: the provider tells it to onnxruntime. */
async function hasText(path: string, version: string): Promise<boolean> {
  const wanted = Buffer.from(`\0${version}\0`);
  let before = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) {
    const bytes = Buffer.concat([before, chunk as Buffer]);
    if (bytes.includes(wanted)) return true;
    before = bytes.subarray(-wanted.length);
  }
  return false;
}
