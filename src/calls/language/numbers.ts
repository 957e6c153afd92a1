/** Follows NUMBERS_FILE. */
import { resolve } from 'node:path';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { ConfigError } from '../../foundation/settings/config.ts';
import { WatchedFile } from '../../foundation/watched-file.ts';
import { FileError } from '../../foundation/yaml-text.ts';
import { NUMBERS_FILE_MAX_BYTES, NumberBook, type NumberEntry, parseNumbers } from './numbers-file.ts';

/** What is known of called numbers. */
export interface Numbers {
  /** @param told the called number or address; null = the carrier did not tell it */
  find(told: string | null): NumberEntry | null;
  close(): void;
}

/**
 * Reads the file `setting`, '' = there is none, and again when it changes.
 * @throws ConfigError when it cannot be used
 */
export async function openNumbers(setting: string, { clock, log }: { clock: Clock; log: Log }): Promise<Numbers> {
  let book = new NumberBook<NumberEntry>([]);
  if (setting === '') return { find: () => null, close: () => undefined };
  const path = resolve(setting);
  try {
    const file = await WatchedFile.open({
      path,
      setting: 'NUMBERS_FILE',
      maxBytes: NUMBERS_FILE_MAX_BYTES,
      clock,
      log,
      take: (text) => {
        const entries = parseNumbers(text, path);
        book = new NumberBook(entries);
        return { numbers: entries.length };
      },
    });
    return { find: (told) => book.find(told), close: () => file.close() };
  } catch (error) {
    if (error instanceof FileError) throw new ConfigError([`NUMBERS_FILE: ${error.message}`]);
    throw error;
  }
}
