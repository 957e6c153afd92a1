/** What decodes a stream while it comes. */

/** Whom it tells: sound at 16 kHz, one array for each channel. Resolves when more is wanted. */
export type OnStreamSound = (channels: readonly Int16Array[]) => Promise<void>;

/** One stream. After an error it may only be closed. */
export interface StreamDecoding {
  /**
   * The stream's next bytes, cut anywhere; those before must have been taken. Resolves when more may come, so that what
   * waits in between stays small.
   * @throws TrunklineError `audio_unreadable`; WorkLostError when the thread died
   */
  push(bytes: Uint8Array): Promise<void>;
  /** No more comes. Resolves when the last sound has been told. @throws as {@link push} */
  end(): Promise<void>;
  /** Gives up at once; whoever waits is told so by an error. */
  close(): void;
}
