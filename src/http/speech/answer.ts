/** One order, from the request to the last byte of its answer. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { TrunklineError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Failures } from '../errors.ts';
import { type Chunk, deliver, goneSignal } from './deliver.ts';
import type { SpeechDesk } from './desk.ts';
import { event, toOpenAiEvents, toQwenEvents } from './events.ts';
import type { Sound, SpeechForm } from './formats.ts';
import type { SpeechOrder } from './order.ts';

/** What the doors of this family share. */
export interface SpeechDoors {
  readonly desk: SpeechDesk;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: Failures;
  readonly inputMaxChars: number;
}

/** How speech is put into an answer's body. */
interface Dress {
  headers(form: SpeechForm): Readonly<Record<string, string>>;
  wrap(chunks: Sound): AsyncGenerator<Chunk, void, undefined>;
  /** What ends a body that failed; null = nothing can, the connection is broken. */
  sorry(failure: TrunklineError): Chunk | null;
}

/** A compressing proxy would hold the sound back. */
const SSE_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache, no-store, no-transform' };

/** The speech itself. Of raw samples the headers say what they are, as the Qwen3-TTS server has them. */
export const AS_AUDIO: Dress = {
  headers: ({ contentType, codec: { name, rateHz } }) => ({
    'content-type': contentType,
    'cache-control': 'no-store, no-transform',
    ...(name === 'pcm16' && { 'x-pcm-sample-rate': String(rateHz), 'x-pcm-bit-depth': '16', 'x-pcm-channels': '1' }),
  }),
  wrap: (chunks) => chunks,
  sorry: () => null,
};

/** Server-Sent Events as OpenAI has them. */
export const AS_OPENAI_EVENTS: Dress = {
  headers: () => SSE_HEADERS,
  wrap: toOpenAiEvents,
  sorry: (failure) => event(failure.toBody()),
};

/** Server-Sent Events as the Qwen3-TTS server has them. */
export const AS_QWEN_EVENTS: Dress = { ...AS_OPENAI_EVENTS, wrap: toQwenEvents };

/**
 * Answers `request` with what `order` asks for.
 * @throws TrunklineError `too_many_requests`, and whatever is wrong before the first sound is there
 */
export async function answer(
  { desk, clock, metrics, failures }: SpeechDoors,
  { request, reply, order, dress }: { request: FastifyRequest; reply: FastifyReply; order: SpeechOrder; dress: Dress },
): Promise<void> {
  const leave = desk.enter();
  const startedMs = clock.nowMs();
  try {
    const { form, chunks } = await desk.open(order, goneSignal(reply));
    const outcome = await deliver({
      reply,
      headers: dress.headers(form),
      chunks: dress.wrap(chunks),
      clock,
      onFirst: () => metrics.speechFirstByte.observe((clock.nowMs() - startedMs) / 1000),
      onFailure: (error) => dress.sorry(failures.note(error, request)),
    });
    metrics.speechRequests.inc({ format: order.format, outcome });
  } finally {
    leave();
  }
}
