/** What the gateway and the thread that decodes a file say to each other. The gateway sends `next` (any message); each is answered once. */
import type { DecodableKind } from '../audio/decode.ts';
import type { ErrorCode } from '../errors.ts';

/** `mix`: all channels become one. `split`: each stays by itself. */
export type ChannelMode = 'mix' | 'split';

/** What a decoding thread is started with. */
export interface DecodeTask {
  readonly path: string;
  readonly kind: DecodableKind;
  readonly channels: ChannelMode;
  /** Most channels that may stay by themselves. */
  readonly channelsMax: number;
  /** A longer file is refused as soon as that is known. */
  readonly maxSeconds: number;
}

/** Some audio at 16 kHz, one array for each channel, and how much of the file has been read by its end, from 0 to 1. */
export interface DecodedStretch {
  readonly channels: Int16Array[];
  readonly share: number;
}

/** An answer: some audio, its end, or why there is none. */
export type FromDecodeWorker =
  | ({ readonly kind: 'audio' } & DecodedStretch)
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };
