import type { Context } from '@opentelemetry/api';
import type { SentenceReport } from '../calls/outbound/spoken-utterance.ts';
import type { SpanMaker } from './span-maker.ts';

/**
 * `speech`, from when a sentence was asked for until it was heard or cut off, and in it `queue` (the wait for an
 * engine), `first_sound` (until the first of it was made) and `play`.
 */
export function makeSentence(
  maker: SpanMaker,
  parent: Context,
  { callId, sentence }: { readonly callId: string; readonly sentence: SentenceReport },
): void {
  const { askedMs, firstMs, begunMs, overMs, cost } = sentence;
  const context = maker.past(parent, {
    name: 'speech',
    startMs: askedMs,
    endMs: overMs,
    error: sentence.isFailed ? 'engine_failed' : null,
    attributes: {
      'trunkline.call.id': callId,
      'trunkline.spoken.utterance': sentence.utterance,
      'trunkline.speech.from': sentence.from ?? 'none',
      'trunkline.speech.audio_ms': Math.round(sentence.madeMs),
      'trunkline.speech.heard_ms': Math.round(sentence.heardMs),
      'trunkline.speech.interrupted': sentence.isInterrupted,
    },
  });
  const begunMakingMs = cost === null ? askedMs : Math.min(askedMs + cost.waitMs, firstMs ?? overMs);
  if (cost !== null) maker.past(context, { name: 'queue', startMs: askedMs, endMs: begunMakingMs });
  if (firstMs !== null) {
    const attributes =
      cost === null ? {} : { 'trunkline.engine.run_ms': Math.round(cost.runMs), 'trunkline.engine.runs': cost.runs };
    maker.past(context, { name: 'first_sound', startMs: begunMakingMs, endMs: firstMs, attributes });
  }
  if (begunMs !== null) maker.past(context, { name: 'play', startMs: begunMs, endMs: overMs });
}
