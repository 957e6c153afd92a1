/** The check of `trunkline doctor` for the files that settings name. */
import { join, resolve } from 'node:path';
import { NUMBERS_FILE_MAX_BYTES, parseNumbers } from '../calls/language/numbers-file.ts';
import { FlowFolder } from '../flows/file/flow-folder.ts';
import { systemClock } from '../foundation/clock.ts';
import type { Finding } from '../foundation/finding.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { readFileText } from '../foundation/watched-file.ts';
import { FileError, placed } from '../foundation/yaml-text.ts';
import { CARDS_FILE_MAX_BYTES, parseCards } from '../hints/cards.ts';
import { readPatternsFile } from '../records/patterns-file.ts';
import { parseUsers, readUsersFile } from '../records/users/users-file.ts';

/** Of what is wrong with flows so much is told here. */
const SHOWN_PROBLEMS = 3;

/** Reads each as the server does at its start, and says what is in it. */
const READERS = {
  FLOWS_DIR: readFlows,
  HINTS_FILE: async (path: string) =>
    counted(parseCards(await readFileText(path, CARDS_FILE_MAX_BYTES), path).cards.length, 'card'),
  NUMBERS_FILE: async (path: string) =>
    counted(parseNumbers(await readFileText(path, NUMBERS_FILE_MAX_BYTES), path).length, 'number'),
  USERS_FILE: async (path: string) => counted(parseUsers(await readUsersFile(path), path).length, 'user'),
  REDACT_PATTERNS_FILE: async (path: string) => counted(readPatternsFile(path).count, 'pattern'),
} as const;

/** @throws FileError that names all that is wrong */
async function readFlows(folder: string): Promise<string> {
  const { flows, others } = await FlowFolder.inspect(folder, systemClock);
  const problems = flows.flatMap(({ file, errors }) => errors.map((error) => placed(join(folder, file), error)));
  const all = [...problems, ...others];
  const more = all.length - SHOWN_PROBLEMS;
  const rest = more > 0 ? [`and ${more} more, which \`trunkline flow check ${folder}\` tells`] : [];
  if (all.length > 0) throw new FileError([...all.slice(0, SHOWN_PROBLEMS), ...rest].join('; '));
  return counted(flows.length, 'flow');
}

/** Whether the files can be used; nothing of those that are not set. It repeats no secret. */
export async function checkFiles(settings: Pick<Settings, keyof typeof READERS>): Promise<Finding[]> {
  const names = Object.keys(READERS) as (keyof typeof READERS)[];
  return Promise.all(names.filter((name) => settings[name] !== '').map((name) => checkFile(name, settings[name])));
}

async function checkFile(name: keyof typeof READERS, setting: string): Promise<Finding> {
  const path = resolve(setting);
  try {
    return { name: 'file', status: 'ok', detail: `${name}: ${await READERS[name](path)} in ${path}` };
  } catch (error) {
    if (error instanceof FileError) return { name: 'file', status: 'fail', detail: `${name}: ${error.message}` };
    if (error instanceof ConfigError) return { name: 'file', status: 'fail', detail: error.message };
    throw error;
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
