/** What the folders of the settings take. Counting reads every folder, so it is done at most once a minute. */
import { join } from 'node:path';
import type { Clock } from '../../foundation/clock.ts';
import { freeBytes, sizeOf } from '../../foundation/folders/folder-size.ts';
import { NO_FOLDER } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { SystemAnswer } from './schema.ts';

const COUNT_EVERY_MS = 60_000;

type DiskSettings = Pick<Settings, 'DATA_DIR' | 'BATCH_DIR' | 'PROMPT_CACHE_DIR' | 'MODELS_DIR' | 'UPLOAD_DIR'>;

type Disk = SystemAnswer['disk'];

export class DiskWatch {
  readonly #settings: DiskSettings;
  readonly #clock: Clock;
  #count: Promise<Disk> | null = null;
  #countedMs = 0;

  constructor(settings: DiskSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** As it was a minute ago at most. */
  read(): Promise<Disk> {
    const nowMs = this.#clock.nowMs();
    if (this.#count === null || nowMs - this.#countedMs >= COUNT_EVERY_MS) {
      this.#countedMs = nowMs;
      this.#count = countDisk(this.#settings);
    }
    return this.#count;
  }
}

async function countDisk({
  DATA_DIR,
  BATCH_DIR,
  PROMPT_CACHE_DIR,
  MODELS_DIR,
  UPLOAD_DIR,
}: DiskSettings): Promise<Disk> {
  const dataDir = folderOf(DATA_DIR);
  const folders: readonly (readonly [string, string | null])[] = [
    ['records', dataDir === null ? null : join(dataDir, 'records')],
    ['sound', dataDir === null ? null : join(dataDir, 'sound')],
    ['batches', folderOf(BATCH_DIR)],
    ['prompts', folderOf(PROMPT_CACHE_DIR)],
    ['models', folderOf(MODELS_DIR)],
    ['uploads', folderOf(UPLOAD_DIR)],
  ];
  const used = folders.flatMap(([name, path]) => (path === null ? [] : [{ name, path }]));
  const parts = await Promise.all(used.map(async ({ name, path }) => ({ name, ...(await sizeOf(path)) })));
  return { folder: dataDir, parts, freeBytes: await freeBytes(dataDir ?? used[0]?.path ?? process.cwd()) };
}

function folderOf(setting: string): string | null {
  return setting === '' || setting === NO_FOLDER ? null : setting;
}
