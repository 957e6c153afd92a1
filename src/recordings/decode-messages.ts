/** What the server and the threads that decode files say to each other. */
import type { DecodableKind } from '../audio/decode.ts';

/** `mix`: all channels become one. `split`: each stays by itself. */
export type ChannelMode = 'mix' | 'split';

/** A file to decode. */
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

/** An answer: some audio, none yet (ask again), or the end of it. */
export type DecodeAnswer =
  | ({ readonly kind: 'audio' } & DecodedStretch)
  | { readonly kind: 'none' }
  | { readonly kind: 'end' };
