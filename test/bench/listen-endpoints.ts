/** The ways in for live audio that `bench -- listen` compares. A new one is one entry. */
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { FRAME_MS, MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import type { CallFeed } from './listen-feed.ts';

/**
 * Silence that ends an utterance, the same for all: the least that `/ws/transcribe` waits for. Calls have it as
 * ENDPOINT_CAPTIONS_MS.
 */
export const LISTEN_ENDPOINT_MS = 600;

/** A settled text. Times are ms of the session's audio. */
export interface HeardFinal {
  /** Which of the session's voices said it, counted from 0. */
  readonly voice: number;
  readonly text: string;
  /** Where its speech ended; null = the protocol does not say. */
  readonly endMs: number | null;
  /** When it was there, if the audio's first sample was sent at 0. */
  readonly arrivedMs: number;
}

/** Where the sessions go. */
export interface ListenTarget {
  /** Of the gateway, `http://…`. */
  readonly url: string;
  readonly sipPort: number;
  /** What is told of its calls. */
  readonly feed: CallFeed;
}

/** One way in. */
export interface ListenEndpoint {
  readonly label: string;
  /** How many voices a session has, each with audio of its own. */
  readonly voices: 1 | 2;
  /**
   * Speaks the 8 kHz `audio` of each voice in real time, all of one length. Resolves with the finals when all have
   * come.
   * @throws Error when the session is refused
   */
  hear(target: ListenTarget, audio: readonly Int16Array[]): Promise<HeardFinal[]>;
}

/** Calls `send` with 20 ms of `audio` each, in real time. Returns when the first one was sent. */
export async function pace(audio: Int16Array, send: (frame: Int16Array) => void): Promise<number> {
  const frame = msToSamples(FRAME_MS, MULAW_8K.rateHz);
  const startedMs = systemClock.nowMs();
  for (let at = 0, dueMs = startedMs; at < audio.length; at += frame, dueMs += FRAME_MS) {
    const waitMs = dueMs - systemClock.nowMs();
    if (waitMs > 0) await sleep(systemClock, waitMs);
    send(audio.subarray(at, at + frame));
  }
  return startedMs;
}
