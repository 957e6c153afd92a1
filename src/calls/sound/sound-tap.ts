/** Where the sound of calls goes to be kept. Calls know nothing of files: whoever keeps the sound fulfils this. */
import type { Codec } from '../../foundation/units.ts';

/** Whose sound: the caller's, or what the caller hears. */
export type SoundChannel = 'caller' | 'heard';

/** Why sound is not kept for a while. `disk_slow`: the disk takes less than comes. */
export type SoundTrouble = 'disk_full' | 'disk_slow' | 'failed';

/** A call whose sound is to be kept. */
export interface TappedCall {
  readonly callId: string;
  readonly startedAt: Date;
  readonly codec: Codec;
  /** From now on nothing is kept, and it tries again by itself. */
  onTrouble(trouble: SoundTrouble): void;
  /** It is kept again. */
  onRecovered(): void;
}

/** Takes the sound of one call. It never throws and never waits. */
export interface SoundSink {
  /** Samples at the codec's rate that begin at `atMs` of the call. They are copied. */
  add(channel: SoundChannel, samples: Int16Array, atMs: number): void;
  /** The call is over, and was so long. */
  end(durationMs: number): void;
}

/** Keeps the sound of calls. */
export interface SoundTap {
  open(call: TappedCall): SoundSink;
}
