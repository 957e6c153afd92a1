/** Messages between the server and the threads that decode files. */
import type { DecodableKind } from '../audio/decode.ts';

/** `mix`: all channels are mixed into one. `split`: each is transcribed by itself. */
export type ChannelMode = 'mix' | 'split';

/** A file to decode. */
export interface DecodeTask {
  readonly path: string;
  readonly kind: DecodableKind;
  readonly channels: ChannelMode;
  /** Most channels with `split`. */
  readonly channelsMax: number;
  /** A longer file is refused as soon as its length is known. */
  readonly maxSeconds: number;
}

/** Audio at 16 kHz, one array for each channel, and the share of the file that has been read, from 0 to 1. */
export interface DecodedStretch {
  readonly channels: Int16Array[];
  readonly share: number;
}

/** An answer: audio, no audio yet (ask again), or the end. */
export type DecodeAnswer =
  | ({ readonly kind: 'audio' } & DecodedStretch)
  | { readonly kind: 'none' }
  | { readonly kind: 'end' };
