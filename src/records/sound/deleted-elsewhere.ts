/** Sound on this disk of calls that another gateway has deleted: it knows their rows, and not where their sound is. */
import { readdir } from 'node:fs/promises';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { hashOfCall, readSoundName, type SoundOwner } from './sound-paths.ts';

/** All names are read for many calls at once. */
const WAIT_MS = 5000;
/** More do not wait. */
const CALLS_MAX = 100_000;

interface DeletedElsewhereOptions {
  /** Of the sound. */
  readonly folder: string;
  readonly sound: { remove(owner: SoundOwner): Promise<number> };
  readonly clock: Clock;
  readonly log: Log;
}

/** What other gateways deleted, and is to leave this disk. */
export class DeletedElsewhere {
  readonly #options: DeletedElsewhereOptions;
  /** Ids of calls by their hashes in the names of files. */
  #waiting = new Map<string, string>();
  #timer: Timer | null = null;

  constructor(options: DeletedElsewhereOptions) {
    this.#options = options;
  }

  /** A call was deleted. */
  note(callId: string): void {
    if (this.#waiting.size < CALLS_MAX) this.#waiting.set(hashOfCall(callId), callId);
    this.#timer ??= this.#options.clock.after(WAIT_MS, () => void this.#remove(), true);
  }

  /** Idempotent. */
  close(): void {
    this.#timer?.cancel();
  }

  async #remove(): Promise<void> {
    this.#timer = null;
    const { folder, sound, log } = this.#options;
    const deleted = this.#waiting;
    this.#waiting = new Map();
    try {
      for (const path of await readdir(folder, { recursive: true })) {
        const { startedMs = 0, hash = '' } = readSoundName(path.split('/').at(-1) ?? '') ?? {};
        const callId = deleted.get(hash);
        if (callId !== undefined) await sound.remove({ callId, startedMs });
      }
    } catch (err) {
      log.warn({ err, calls: deleted.size }, 'sound of calls that another server deleted could not be deleted here');
    }
  }
}
