/** One request for speech, from its text to the last byte of the response. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VoiceInfo } from '../../../engine/contract.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { ClientFamilies } from '../server/client-families.ts';
import type { Failures } from '../server/errors.ts';
import { goneSignal } from '../server/gone-signal.ts';
import { SSE_HEADERS } from '../server/server-sent-events.ts';
import type { Sound, SpeechEncoder } from './encoders.ts';
import { event, toOpenAiEvents } from './events.ts';
import type { SpeechRequest } from './request.ts';
import type { SpeechService } from './speech-service.ts';
import { type Chunk, sendStream } from './streamed-body.ts';

/** What all speech routes share. */
export interface SpeechContext {
  readonly service: SpeechService;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: Failures;
  readonly families: ClientFamilies;
  readonly inputMaxChars: number;
}

/** How speech becomes the body of a response. */
export interface ResponseFormat {
  headers(encoder: SpeechEncoder, voice: VoiceInfo): Readonly<Record<string, string>>;
  wrap(chunks: Sound): AsyncGenerator<Chunk, void, undefined>;
  /** The end of a body that failed, made of the error's body; null = the format has none, so the connection breaks. */
  failure(error: object): Chunk | null;
  /** Whether the chunks are sent as they are, so that their length is the body's. */
  readonly isBare: boolean;
}

/** The speech itself. The headers describe raw samples as the Qwen3-TTS server does. */
export const AS_AUDIO: ResponseFormat = {
  headers: ({ contentType, codec: { name, rateHz } }) => ({
    'content-type': contentType,
    'cache-control': 'no-store, no-transform',
    ...(name === 'pcm16' && { 'x-pcm-sample-rate': String(rateHz), 'x-pcm-bit-depth': '16', 'x-pcm-channels': '1' }),
  }),
  wrap: (chunks) => chunks,
  failure: () => null,
  isBare: true,
};

/** Server-Sent Events like OpenAI's. */
export const AS_OPENAI_EVENTS: ResponseFormat = {
  headers: () => SSE_HEADERS,
  wrap: toOpenAiEvents,
  failure: event,
  isBare: false,
};

/** A request to be answered with speech. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly speechRequest: SpeechRequest;
  readonly responseFormat: ResponseFormat;
}

/**
 * Answers a request with its speech.
 * @throws TrunklineError `too_many_requests`, and whatever fails before the first sound is made
 */
export async function sendSpeech(
  { service, clock, metrics, failures }: SpeechContext,
  { request, reply, speechRequest, responseFormat }: Exchange,
): Promise<void> {
  const leave = service.enter();
  const startedMs = clock.nowMs();
  try {
    const { encoder, voice, chunks, bytes } = await service.open(speechRequest, goneSignal(reply));
    const length = bytes === null || bytes === 0 || !responseFormat.isBare ? {} : { 'content-length': String(bytes) };
    const outcome = await sendStream({
      reply,
      headers: { ...responseFormat.headers(encoder, voice), ...length },
      chunks: responseFormat.wrap(chunks),
      clock,
      onFirst: () => metrics.speechFirstByte.observe((clock.nowMs() - startedMs) / 1000),
      onFailure: (error) => responseFormat.failure(failures.tell(error, request)),
    });
    metrics.speechRequests.inc({ format: speechRequest.format, outcome });
  } finally {
    leave();
  }
}
