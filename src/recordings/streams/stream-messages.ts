/** Messages between the server and the threads that decode streams. */
import type { DecodableKind } from '../../audio/decode.ts';
import type { ChannelMode } from '../decode-messages.ts';

/** A stream to decode. */
export interface StreamTask {
  readonly kind: DecodableKind;
  readonly channels: ChannelMode;
}

/** Its next bytes. */
export interface StreamPiece {
  readonly bytes: Uint8Array;
  /** No more comes. */
  readonly isLast: boolean;
}

/** Sound at 16 kHz, one array for each channel. */
export interface StreamAnswer {
  readonly channels: Int16Array[];
  /** All of the last piece has been read; else there is more to ask for. */
  readonly isAll: boolean;
}
