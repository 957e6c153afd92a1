/** What passes between the gateway and the threads that write and read sound. */
import type { SoundKey } from './sound-key.ts';
import type { FinishedSound, NewSound, SoundStretch } from './sound-writer.ts';

/** How the writing thread begins. */
export interface WritingSetup {
  /** DATA_DIR/sound, which exists. */
  readonly folder: string;
  readonly key: SoundKey | null;
}

/** What is asked of the writing thread, in order. `file` names a file that is being written. */
export type WritingTask =
  | { readonly type: 'create'; readonly file: number; readonly sound: NewSound }
  | { readonly type: 'add'; readonly file: number; readonly stretches: readonly SoundStretch[] }
  | { readonly type: 'finish'; readonly file: number; readonly totalSamples: number }
  | { readonly type: 'discard'; readonly file: number }
  /** Fails while the disk has no room. */
  | { readonly type: 'probe' }
  /** Finishes the file of that name, which a dying process left. */
  | { readonly type: 'recover'; readonly name: string };

/** What became of it: the file's size after `add`; null = there is nothing to tell. */
export type WritingResult = number | FinishedSound | null;

/** A task with its number. */
export interface WritingRequest {
  readonly id: number;
  readonly task: WritingTask;
}

/** The answer to the task of that number. `isDisk` = the disk is full or fails, and it may be asked again. */
export type WritingReply = { readonly id: number } & (
  | { readonly result: WritingResult }
  | { readonly error: string; readonly isDisk: boolean }
);

/** What is wanted of a file, in bytes of the WAV file that is made of it; `last` counts too. */
export interface WantedBytes {
  /** Null with `last` = the last so many bytes. */
  readonly first: number | null;
  /** Null = to the end. */
  readonly last: number | null;
}

/** A file to be read as WAV. */
export interface ReadingTask {
  readonly path: string;
  readonly key: SoundKey | null;
  /** It was finished, so that one without an end was cut off. */
  readonly mustBeWhole: boolean;
  /** The sound up to that moment of the call alone, in ms; null = all there is. */
  readonly untilMs: number | null;
  /** Null = all of it. */
  readonly wanted: WantedBytes | null;
}

/** What there is of the file, and which bytes come. */
export interface WavExtent {
  readonly kind: 'extent';
  readonly totalBytes: number;
  /** First and last byte that come; null = the file has none of what was wanted. */
  readonly range: { readonly first: number; readonly last: number } | null;
}

/** First the extent, then the bytes in order, then the end. */
export type ReadingAnswer =
  | WavExtent
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' };
