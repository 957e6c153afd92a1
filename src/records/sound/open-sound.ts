/** Opens the sound of calls as the settings say. */
import { join } from 'node:path';
import type { Clock } from '../../foundation/clock.ts';
import { sizeOf } from '../../foundation/folders/folder-size.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { ConfigError } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Recorder } from '../recorder.ts';
import type { RecordsDatabase } from '../records-database.ts';
import type { CallsTable } from '../tables.ts';
import { readSoundKey } from './sound-key.ts';
import type { SoundOwner } from './sound-paths.ts';
import { SoundStore } from './sound-store.ts';

/** The settings of recorded sound. */
export type SoundSettings = Pick<Settings, 'RECORD' | 'RECORD_KEY' | 'CLUSTER_KEY'>;

interface OpenSoundOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly database: RecordsDatabase;
  readonly recorder: Recorder;
}

type SizeChange = Partial<Pick<CallsTable, 'sound_bytes' | 'message_bytes'>>;

/**
 * The sound under DATA_DIR, `folder`; null = there is no such folder, so that no call can be recorded.
 * @throws ConfigError when RECORD wants sound and it cannot be kept
 */
export async function openSound(
  settings: SoundSettings,
  folder: string | null,
  { database, recorder, ...parts }: OpenSoundOptions,
): Promise<SoundStore | null> {
  if (folder === null) {
    refuseSound(settings, 'there is no folder for it');
    return null;
  }
  const key = await readSoundKey(settings.RECORD_KEY);
  const storeBytes = async ({ callId, startedMs }: SoundOwner, change: SizeChange): Promise<void> => {
    // The row comes with the call's first event.
    await recorder.settled();
    const update = database.db.updateTable('calls').set(change);
    await update.where('id', '=', callId).where('started_ms', '=', startedMs).execute();
  };
  /** Sound of earlier calls is counted before sizes are stored that would count twice. */
  let counted: Promise<void> = Promise.resolve();
  const warn = (err: unknown): void =>
    parts.log.warn({ err }, 'the sizes of recorded sound could not be read or stored');
  const noteBytes = async (owner: SoundOwner, bytes: number | null, of: 'call' | 'messages'): Promise<void> => {
    const change = of === 'call' ? { sound_bytes: bytes } : { message_bytes: bytes };
    const stored = counted.then(() => storeBytes(owner, change));
    if (database.isOpen) await stored;
    else void stored.catch(warn);
  };
  try {
    const isOpen = database.isOpen;
    const soundFolder = join(folder, 'sound');
    // The database has the sizes of the sound of all gateways.
    const isShared = settings.CLUSTER_KEY !== '';
    const keptBytes = isShared ? (await sizeOf(soundFolder)).bytes : isOpen ? await sumBytes(database) : 0;
    const store = await SoundStore.open({ ...parts, folder: soundFolder, key, keptBytes, noteBytes });
    if (isOpen) return store;
    const summed = database.opened.then(() => sumBytes(database));
    counted = summed.then((bytes) => store.countKept(bytes)).catch(warn);
    return store;
  } catch (error) {
    const why = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);
    if (database.isOpen) refuseSound(settings, why);
    parts.log.warn({ reason: why }, 'no sound of calls can be kept until the next start');
    return null;
  }
}

async function sumBytes({ reader }: RecordsDatabase): Promise<number> {
  const sumOf = async (column: 'sound_bytes' | 'message_bytes'): Promise<number> => {
    const calls = reader.selectFrom('calls').where(column, 'is not', null);
    const sum = await calls.select(({ fn }) => fn.sum(column).as('bytes')).executeTakeFirst();
    return Number(sum?.bytes ?? 0);
  };
  return (await sumOf('sound_bytes')) + (await sumOf('message_bytes'));
}

/** @throws ConfigError when RECORD wants sound, which cannot be kept for the reason `why` */
export function refuseSound({ RECORD }: Pick<SoundSettings, 'RECORD'>, why: string): void {
  if (RECORD !== 'off') throw new ConfigError([`RECORD: got ${RECORD}, but DATA_DIR cannot keep sound: ${why}`]);
}
