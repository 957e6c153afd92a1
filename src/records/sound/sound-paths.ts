/** Where sound lies under its folder. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Whose sound it is: a call's id may come again another day. */
export interface SoundOwner {
  readonly callId: string;
  /** When the call began, in ms since 1970. */
  readonly startedMs: number;
}

/** Files that are being written, and those that a dying process left; each is moved when it is whole. */
export const UNFINISHED_FOLDER = 'unfinished';

const NAME = /^(?<startedMs>\d{13,16})-(?<hash>[0-9a-f]{16})\.sound$/;

/** The file's name. Call ids may hold any character, so the name has a hash of them. */
export function soundName({ callId, startedMs }: SoundOwner): string {
  return `${String(startedMs).padStart(13, '0')}-${hashOfCall(callId)}.sound`;
}

/** What stands for a call's id in the names of its files. */
export function hashOfCall(callId: string): string {
  return createHash('sha256').update(callId).digest('hex').slice(0, 16);
}

/** What a file's name says; null = it is not of ours. */
export function readSoundName(name: string): { readonly startedMs: number; readonly hash: string } | null {
  const { startedMs, hash } = NAME.exec(name)?.groups ?? {};
  return startedMs === undefined || hash === undefined ? null : { startedMs: Number(startedMs), hash };
}

/** Where a file is while it is written. */
export function unfinishedPath(folder: string, name: string): string {
  return join(folder, UNFINISHED_FOLDER, name);
}

/** The folder of the day, in UTC, on which the call of this file began. */
export function dayFolder(folder: string, name: string): string {
  const startedMs = Number(NAME.exec(name)?.groups?.['startedMs'] ?? 0);
  const [year = '', month = '', day = ''] = new Date(startedMs).toISOString().slice(0, 10).split('-');
  return join(folder, year, month, day);
}

/** Whether a file has a name of ours. */
export function isSoundName(name: string): boolean {
  return NAME.test(name);
}
