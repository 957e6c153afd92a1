/** One side of a conversation, made of given utterances. */
import { msToSamples } from '../foundation/units.ts';

/** What the conversation is like. */
export interface ConversationShape {
  readonly seconds: number;
  readonly rateHz: number;
  /** Share of the time in which somebody speaks, 0 to 1. */
  readonly speechShare: number;
  /** Numbers from 0 to 1, below 1: the same ones make the same conversation. */
  random(): number;
}

/**
 * A conversation of randomly chosen `utterances`. It begins within the first two seconds; each utterance is followed by
 * a pause in proportion to its length.
 */
export function conversation(
  utterances: readonly Int16Array[],
  { seconds, rateHz, speechShare, random }: ConversationShape,
): Int16Array {
  const samples = new Int16Array(msToSamples(seconds * 1000, rateHz));
  let at = Math.round(random() * 2 * rateHz);
  while (at < samples.length) {
    const utterance = utterances[Math.floor(random() * utterances.length)];
    if (utterance === undefined || utterance.length === 0) break;
    samples.set(utterance.subarray(0, samples.length - at), at);
    const pauseSamples = (utterance.length * (1 - speechShare)) / speechShare;
    at += utterance.length + Math.round(pauseSamples * (0.5 + random()));
  }
  return samples;
}

/** Splits `samples` at each half second or more of digital silence: synthetic speech has it between sentences. */
export function cutAtSilence(samples: Int16Array, rateHz: number): Int16Array[] {
  const pause = msToSamples(500, rateHz);
  const parts: Int16Array[] = [];
  let from: number | null = null;
  let to = 0;
  for (let at = 0; at < samples.length; at++) {
    if (samples[at] === 0) continue;
    if (from !== null && at - to >= pause) {
      parts.push(samples.subarray(from, to));
      from = null;
    }
    from ??= at;
    to = at + 1;
  }
  if (from !== null) parts.push(samples.subarray(from, to));
  return parts;
}
