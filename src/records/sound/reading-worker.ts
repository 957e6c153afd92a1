/** A thread that makes WAV files of sound, some seconds at a time. */
import { LRUCache } from 'lru-cache';
import { serveWork, type ThreadWork } from '../../foundation/workers/worker-thread.ts';
import type { ReadingAnswer, ReadingTask } from './sound-messages.ts';
import { openForReading, readLayout, type SoundLayout, SoundReader } from './sound-reader.ts';
import { type ByteRange, WavView } from './wav-view.ts';

/** About eight seconds of a telephone call: some ms of work. */
const STEP_BYTES = 262_144;
const LAYOUTS_MAX = 50;

/** Players ask for part after part of a file: its records are looked for once. A layout holds no sound. */
const layouts = new LRUCache<string, SoundLayout>({ max: LAYOUTS_MAX });

function layoutOf({ readAt, stateOf }: ReturnType<typeof openForReading>): SoundLayout {
  const state = stateOf();
  const known = layouts.get(state);
  if (known !== undefined) return known;
  const layout = readLayout(readAt);
  layouts.set(state, layout);
  return layout;
}

class SoundReading implements ThreadWork<ReadingAnswer> {
  readonly #view: WavView;
  readonly #close: () => void;
  readonly #range: ByteRange | null;
  #at: number | null = null;

  constructor({ path, key, mustBeWhole, untilMs, wanted }: ReadingTask) {
    const file = openForReading(path);
    const { readAt, close } = file;
    this.#close = close;
    try {
      const layout = layoutOf(file);
      this.#view = new WavView(new SoundReader(readAt, key, mustBeWhole, layout), untilMs);
    } catch (error) {
      close();
      throw error;
    }
    this.#range = this.#view.rangeOf(wanted);
  }

  next(): ReadingAnswer {
    if (this.#at === null) {
      this.#at = this.#range?.first ?? 0;
      return { kind: 'extent', totalBytes: this.#view.totalBytes, range: this.#range };
    }
    const last = this.#range?.last ?? -1;
    if (this.#at > last) return { kind: 'end' };
    const first = this.#at;
    this.#at = Math.min(first + STEP_BYTES, last + 1);
    return { kind: 'bytes', bytes: this.#view.read({ first, last: this.#at - 1 }) };
  }

  close(): void {
    this.#close();
  }
}

serveWork<ReadingTask, ReadingAnswer>({
  begin: (task) => new SoundReading(task),
  // Small buffers may be a part of one that others use.
  transfer: (answer) =>
    answer.kind === 'bytes' && answer.bytes.byteLength === answer.bytes.buffer.byteLength
      ? [answer.bytes.buffer as ArrayBuffer]
      : [],
});
