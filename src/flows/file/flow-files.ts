/** The files of FLOWS_DIR. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { markOf } from '../../foundation/watched-file.ts';
import { FileError } from '../../foundation/yaml-text.ts';
import type { RecordingNames } from './check-recordings.ts';

/** More steps than a flow may have fit in. Reading such a file holds everything else up for some tenths of a second. */
export const FLOW_FILE_MAX_BYTES = 262_144;
const FLOWS_MAX = 500;

const RECORDINGS_MAX = 20_000;

const RECORDINGS_FOLDER = 'prompts';
/** Folders of other names are none of ours. */
const LANGUAGE_FOLDER = /^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8}){0,3}$/;
/** The sound of a recording, not what is written of it. */
const RECORDING_FILE = /^([A-Za-z][\w-]{0,63})\.(?!(?:txt|md|json|yaml)$)\w{1,8}$/;
const ENDING = '.yaml';
const TEST_ENDING = '.test.yaml';
/** Which flow answers which number. */
export const NUMBERS_NAME = 'numbers.yaml';

/** A file, and what changes whenever it does. */
export interface MarkedFile {
  /** Without the folder. */
  readonly file: string;
  readonly mark: string;
}

/** What is in the folder. */
export interface FolderFiles {
  /** By the name of the flow. */
  readonly flows: ReadonlyMap<string, MarkedFile>;
  /** Null = there is none. */
  readonly numbers: MarkedFile | null;
  readonly recordings: RecordingNames;
  /** Files that look as if they were to be flows. */
  readonly passedOver: readonly string[];
}

/** Looks for flows in `folder`. @throws FileError when it cannot be read or has too many */
export async function findFlowFiles(folder: string): Promise<FolderFiles> {
  const names = await namesIn(folder);
  const files = names.filter((name) => name.endsWith(ENDING) && !name.endsWith(TEST_ENDING) && name !== NUMBERS_NAME);
  if (files.length > FLOWS_MAX)
    throw new FileError(`${folder}: has ${files.length} flows, expected ${FLOWS_MAX} at most`);
  const marked = await Promise.all(files.map(async (file) => ({ file, mark: await markOf(join(folder, file)) })));
  const flows = new Map(marked.map((file) => [file.file.slice(0, -ENDING.length), file]));
  const numbers = names.includes(NUMBERS_NAME)
    ? { file: NUMBERS_NAME, mark: await markOf(join(folder, NUMBERS_NAME)) }
    : null;
  const recordings = await findRecordings(join(folder, RECORDINGS_FOLDER));
  return { flows, numbers, recordings, passedOver: names.filter((name) => name.endsWith('.yml')) };
}

/** The files of `prompts/<language>/`; none where there is no such folder. */
async function findRecordings(folder: string): Promise<RecordingNames> {
  const languages = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const recordings = new Map<string, ReadonlySet<string>>();
  let count = 0;
  for (const { name: language } of languages.filter(({ name }) => LANGUAGE_FOLDER.test(name))) {
    const files = await readdir(join(folder, language)).catch((): string[] => []);
    count += files.length;
    if (count > RECORDINGS_MAX) throw new FileError(`${folder}: has more than ${RECORDINGS_MAX} files`);
    recordings.set(language, new Set(files.flatMap((file) => RECORDING_FILE.exec(file)?.[1] ?? [])));
  }
  return recordings;
}

/** In the order of the alphabet. Hidden ones are none of ours: mounted folders have some. */
async function namesIn(folder: string): Promise<string[]> {
  const found = await stat(folder).catch(unreadable(folder));
  if (!found.isDirectory()) throw new FileError(`${folder}: got a file, expected a folder`);
  const names = await readdir(folder).catch(unreadable(folder));
  return names.filter((name) => !name.startsWith('.')).toSorted();
}

function unreadable(path: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    throw new FileError(`${path}: cannot be read (${error.code ?? error.message})`);
  };
}
