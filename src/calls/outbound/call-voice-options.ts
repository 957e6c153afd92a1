/** What the voice of a call is made of, and whom it tells. */
import type { Log } from '../../foundation/log/log.ts';
import type { Codec } from '../../foundation/units.ts';
import type { CarrierCommand, Playback } from '../../protocols/dialect.ts';
import type { CallContext } from '../context.ts';
import type { Interruptible } from './barge-in.ts';
import type { PlayoutTap } from './playout.ts';
import type { SentenceReport } from './spoken-utterance.ts';

/** The call that is spoken in. */
export interface CallVoiceOptions {
  readonly codec: Codec;
  readonly carrier: string;
  readonly playback: Playback;
  /** These as the carrier's `start` has them. */
  readonly framesPerMessage?: number | undefined;
  readonly wholeSounds?: boolean | undefined;
  /** What may interrupt anything in this call. */
  readonly bargeIn: Interruptible;
  /** The silence after which the caller's speech is told to have stopped. */
  readonly callerEndpointMs: () => number;
  readonly context: CallContext;
  readonly log: Log;
  /** How long the call has lasted by its sound. */
  callMs(): number;
  /** The caller's language (BCP-47), in which texts are that name none; null = not known. */
  language(): string | null;
  /** Told of each frame that the caller gets to hear; left out = nobody is. */
  readonly taps?: readonly PlayoutTap[] | undefined;
  send(command: CarrierCommand): void;
  /** The tone of a key begins to be sent; a carrier that has a way of its own to press keys leaves the tone out. */
  press(digit: string): void;
  /** Something that runs on a timer threw. */
  onFailure(error: unknown): void;
  /** Is told what became of each sentence; left out = nobody is. */
  readonly onSentence?: ((sentence: SentenceReport) => void) | undefined;
}
