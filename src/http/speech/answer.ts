/** One order, from the request to the last byte of its answer. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Failures } from '../server/errors.ts';
import { goneSignal } from '../server/gone-signal.ts';
import { SSE_HEADERS } from '../server/server-sent-events.ts';
import { type Chunk, deliver } from './deliver.ts';
import { event, qwenFailure, toOpenAiEvents, toQwenEvents } from './events.ts';
import type { Sound, SpeechForm } from './formats.ts';
import type { SpeechRequest } from './request.ts';
import type { SpeechService } from './speech-service.ts';

/** What the doors of this family share. */
export interface SpeechServices {
  readonly service: SpeechService;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: Failures;
  readonly inputMaxChars: number;
}

/** How speech is put into an answer's body. */
interface ResponseFormat {
  headers(form: SpeechForm): Readonly<Record<string, string>>;
  wrap(chunks: Sound): AsyncGenerator<Chunk, void, undefined>;
  /** What ends a body that failed, of its error body; null = nothing can, the connection is broken. */
  sorry(failure: object): Chunk | null;
  /** Whether the chunks go out as they are, so that their length is the body's. */
  readonly isBare: boolean;
}

/** The speech itself. Of raw samples the headers say what they are, as the Qwen3-TTS server has them. */
export const AS_AUDIO: ResponseFormat = {
  headers: ({ contentType, codec: { name, rateHz } }) => ({
    'content-type': contentType,
    'cache-control': 'no-store, no-transform',
    ...(name === 'pcm16' && { 'x-pcm-sample-rate': String(rateHz), 'x-pcm-bit-depth': '16', 'x-pcm-channels': '1' }),
  }),
  wrap: (chunks) => chunks,
  sorry: () => null,
  isBare: true,
};

/** Server-Sent Events as OpenAI has them. */
export const AS_OPENAI_EVENTS: ResponseFormat = {
  headers: () => SSE_HEADERS,
  wrap: toOpenAiEvents,
  sorry: event,
  isBare: false,
};

/** Server-Sent Events as the Qwen3-TTS server has them. */
export const AS_QWEN_EVENTS: ResponseFormat = { ...AS_OPENAI_EVENTS, wrap: toQwenEvents, sorry: qwenFailure };

/**
 * Answers `request` with what `order` asks for.
 * @throws TrunklineError `too_many_requests`, and whatever is wrong before the first sound is there
 */
export async function answer(
  { service, clock, metrics, failures }: SpeechServices,
  {
    request,
    reply,
    order,
    responseFormat,
  }: { request: FastifyRequest; reply: FastifyReply; order: SpeechRequest; responseFormat: ResponseFormat },
): Promise<void> {
  const leave = service.enter();
  const startedMs = clock.nowMs();
  try {
    const { form, chunks, bytes } = await service.open(order, goneSignal(reply));
    const length = bytes === null || bytes === 0 || !responseFormat.isBare ? {} : { 'content-length': String(bytes) };
    const outcome = await deliver({
      reply,
      headers: { ...responseFormat.headers(form), ...length },
      chunks: responseFormat.wrap(chunks),
      clock,
      onFirst: () => metrics.speechFirstByte.observe((clock.nowMs() - startedMs) / 1000),
      onFailure: (error) => responseFormat.sorry(failures.tell(error, request)),
    });
    metrics.speechRequests.inc({ format: order.format, outcome });
  } finally {
    leave();
  }
}
