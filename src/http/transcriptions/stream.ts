/** A transcript as Server-Sent Events: each segment leaves as soon as it is there. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Recording, Segment } from '../../recordings/transcribe.ts';
import type { Failures } from '../errors.ts';
import { separatorAfter, textOf, usageOf } from './formats.ts';
import type { Order } from './serve.ts';

/** `no-transform`, and `X-Accel-Buffering` for nginx: a proxy that compresses or buffers would hold the text back. */
const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** What a client is told, as objects. */
export interface EventForm {
  segment(segment: Segment, index: number, before: string): unknown;
  end(recording: Recording): unknown;
}

/** OpenAI's TranscriptTextDeltaEvent and TranscriptTextDoneEvent. The deltas joined are the text. */
export const OPENAI_EVENTS: EventForm = {
  segment: (segment, _index, before) => ({ type: 'transcript.text.delta', delta: separatorAfter(before, segment) + segment.text }),
  end: (recording) => ({ type: 'transcript.text.done', text: textOf(recording.segments), usage: usageOf(recording) }),
};

/** Those of the Qwen3-ASR server. A segment never changes once it is said, so each is final. */
export const QWEN_EVENTS: EventForm = {
  segment: ({ text }, index) => ({ text, language: 'English', is_final: true, chunk_index: index }),
  end: () => ({ done: true }),
};

/**
 * Answers an order with events. The answer begins when the recording proves to be one: what is wrong before that has its HTTP status, and an error that comes
 * later is an event, as OpenAI's clients expect it. What waits for a slow client is text alone and bounded by the recording's length.
 */
export async function streamTranscript(
  failures: Failures,
  { request, reply, order }: { request: FastifyRequest; reply: FastifyReply; order: Order },
  events: EventForm,
): Promise<void> {
  const stream = new EventStream(reply);
  let before = '';
  let index = 0;
  try {
    const recording = await order.hear({
      onProgress: () => stream.begin(),
      onSegment: (segment) => {
        stream.write(events.segment(segment, index++, before));
        before = segment.text;
      },
    });
    stream.write(events.end(recording));
  } catch (error) {
    if (!stream.hasBegun) throw error;
    stream.write(failures.note(error, request).toBody());
  } finally {
    stream.end();
  }
}

class EventStream {
  readonly #reply: FastifyReply;
  hasBegun = false;

  constructor(reply: FastifyReply) {
    this.#reply = reply;
  }

  begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.#reply.hijack();
    this.#reply.raw.writeHead(200, { ...this.#reply.getHeaders(), ...SSE_HEADERS } as Record<string, string>);
    this.#reply.raw.flushHeaders();
  }

  write(event: unknown): void {
    this.begin();
    if (!this.#reply.raw.destroyed) this.#reply.raw.write(`data: ${JSON.stringify(event)}\n\n`);
  }

  end(): void {
    if (this.hasBegun) this.#reply.raw.end();
  }
}
