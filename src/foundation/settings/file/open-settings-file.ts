/** Finds trunkline.yaml and reads it. */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { SettingName } from '../settings.ts';
import { type FileValue, parseSettingsFile } from './parse-settings-file.ts';

/** What the file is called. */
export const SETTINGS_FILE = 'trunkline.yaml';
/** The variable that names another file. */
const FILE_VARIABLE = 'TRUNKLINE_CONFIG';
/** As the value of that variable: no file is read. */
const NO_FILE = 'none';

const FILE_MAX_BYTES = 262_144;
const SECRET_MAX_BYTES = 65_536;
const OTHERS_WRITE = 0o002;
const OTHERS_READ = 0o004;

/** A file that was read. */
export interface SettingsFile {
  /** Null = there is none, but a folder that could have one is closed to this user. */
  readonly path: string | null;
  readonly values: ReadonlyMap<SettingName, FileValue>;
  /** Why it cannot be used, one line each. */
  readonly problems: readonly string[];
  /** What is doubtful about it, one line each. */
  readonly notices: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The first file that there is: the one that TRUNKLINE_CONFIG names, trunkline.yaml in the folder in which the command
 * runs, then in each of `folders`. Null = there is none, or TRUNKLINE_CONFIG=none. What cannot be read is a problem of
 * the file.
 */
export function openSettingsFile(environment: Environment, folders: readonly string[]): SettingsFile | null {
  const named = environment[FILE_VARIABLE]?.trim() ?? '';
  if (named === NO_FILE) return null;
  if (named !== '') return readSettingsFile(named, environment, `${FILE_VARIABLE}: `);
  const closed: string[] = [];
  for (const path of [SETTINGS_FILE, ...folders.map((folder) => join(folder, SETTINGS_FILE))]) {
    const found = lookFor(path);
    if (found === 'closed')
      closed.push(`${dirname(path)} is closed to this user (EACCES): a ${SETTINGS_FILE} in it is not read`);
    if (found !== 'there') continue;
    const file = readSettingsFile(path, environment);
    return { ...file, notices: [...closed, ...file.notices] };
  }
  return closed.length === 0 ? null : { path: null, values: new Map(), problems: [], notices: closed };
}

function lookFor(path: string): 'there' | 'closed' | 'none' {
  try {
    statSync(path);
    return 'there';
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EACCES' ? 'closed' : 'none';
  }
}

/** The file at `path`; `naming` = what stands before its path where it cannot be read. */
export function readSettingsFile(path: string, environment: Environment, naming = ''): SettingsFile {
  try {
    const { text, stats } = readSmall(path, FILE_MAX_BYTES);
    const { values, problems } = parseSettingsFile(text, path, {
      variables: environment,
      readFile: (named) => readSmall(resolve(dirname(path), named), SECRET_MAX_BYTES).text,
    });
    return { path, values, problems, notices: noticesAbout(path, stats, values) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { path, values: new Map(), problems: [`${naming}${why}`], notices: [] };
  }
}

/** @throws Error that names the file and says why it cannot be read */
function readSmall(path: string, maxBytes: number): { readonly text: string; readonly stats: Stats } {
  try {
    const stats = statSync(path);
    // A pipe or a device would be waited for.
    if (!stats.isFile()) throw new Error('it is not a file');
    if (stats.size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    const bytes = readFileSync(path);
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), stats };
  } catch (error) {
    throw new Error(`${path} cannot be read: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'it is not UTF-8';
  return code === '' ? error.message : code;
}

function noticesAbout(path: string, { mode }: Stats, values: ReadonlyMap<SettingName, FileValue>): string[] {
  if (process.platform === 'win32') return [];
  const notices: string[] = [];
  if ((mode & OTHERS_WRITE) !== 0) notices.push(`${path}: every user of this machine may change it: chmod o-w ${path}`);
  const secrets = [...values].filter(([, { isOpenSecret }]) => isOpenSecret).map(([name]) => name);
  if (secrets.length > 0 && (mode & OTHERS_READ) !== 0)
    notices.push(
      `${path}: it has secrets (${secrets.join(', ')}), and every user of this machine may read it: ` +
        `chmod o-r ${path}, or name them as \${NAME} or {file: path}`,
    );
  return notices;
}
