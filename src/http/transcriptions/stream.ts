/** A transcript as Server-Sent Events: each segment leaves as soon as it is there. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { languageName, titleCase } from '../../foundation/languages.ts';
import type { Recording, Segment } from '../../recordings/transcribe.ts';
import { type Translator, translateSegments } from '../../recordings/translate.ts';
import type { Failures } from '../server/errors.ts';
import { beginEvents, formatEvent } from '../server/server-sent-events.ts';
import { separatorAfter, textOf, usageOf } from './formats.ts';
import type { Order } from './serve.ts';

/** What a client is told, as objects. */
export interface EventForm {
  segment(segment: Segment, index: number, before: string): unknown;
  end(recording: Recording): unknown;
}

/** OpenAI's TranscriptTextDeltaEvent and TranscriptTextDoneEvent. The deltas joined are the text. */
export const OPENAI_EVENTS: EventForm = {
  segment: (segment, _index, before) => ({
    type: 'transcript.text.delta',
    delta: separatorAfter(before, segment) + segment.text,
  }),
  end: (recording) => ({ type: 'transcript.text.done', text: textOf(recording.segments), usage: usageOf(recording) }),
};

/**
 * Those of the Qwen3-ASR server, for texts in `language` (an English name in lower case). A segment never changes once
 * it is said, so each is final.
 */
export function qwenEvents(language: string): EventForm {
  return {
    segment: ({ text }, index) => ({ text, language: titleCase(language), is_final: true, chunk_index: index }),
    end: () => ({ done: true }),
  };
}

/** Who asks, what for, and by what it is translated if it is to be. */
interface Asked {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly order: Order;
  readonly translator: Translator;
}

/**
 * Answers an order with events, in its target_language if it has one. The answer begins when the recording proves to be
 * one: what is wrong before that has its HTTP status, and an error that comes later is an event, as OpenAI's clients
 * expect it. What waits for a slow client, or for a translation, is text alone and bounded by the recording's length.
 */
export async function streamTranscript(
  failures: Failures,
  { request, reply, order, translator }: Asked,
  events: EventForm,
): Promise<void> {
  const stream = new EventStream(reply);
  const said: Segment[] = [];
  const say = (segment: Segment): void => {
    stream.write(events.segment(segment, said.length, said.at(-1)?.text ?? ''));
    said.push(segment);
  };
  const [spoken = ''] = order.languages;
  const target = languageName(order.form.target_language ?? '', order.languages);
  if (target !== '') translator.assertConfigured();
  const translate = (lines: readonly string[]): Promise<string[]> => translator.translate(lines, target, order.signal);
  const interpreter = target === '' || target === languageName(spoken) ? null : new Interpreter(translate, say);
  try {
    const recording = await order.hear({
      onProgress: () => stream.begin(),
      onSegment: (segment) => (interpreter === null ? say(segment) : interpreter.take(segment)),
    });
    await interpreter?.finish();
    stream.write(events.end({ ...recording, segments: said }));
  } catch (error) {
    if (!stream.hasBegun) throw error;
    stream.write(failures.tell(error, request));
  } finally {
    stream.end();
  }
}

/** Translates segments as they come, in order: all that wait at once. */
class Interpreter {
  readonly #translate: (lines: readonly string[]) => Promise<readonly string[]>;
  readonly #say: (segment: Segment) => void;
  #waiting: Segment[] = [];
  #running: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(translate: (lines: readonly string[]) => Promise<readonly string[]>, say: (segment: Segment) => void) {
    this.#translate = translate;
    this.#say = say;
  }

  /** @throws what an earlier translation failed with: the rest need not be heard */
  take(segment: Segment): void {
    if (this.#failure !== null) throw this.#failure.error;
    this.#waiting.push(segment);
    this.#running ??= this.#run();
  }

  /** Resolves when all has been said. @throws as {@link take} */
  async finish(): Promise<void> {
    await this.#running;
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const segments = this.#waiting;
        this.#waiting = [];
        for (const segment of (
          await translateSegments({ durationMs: 0, spokenLanguage: '', segments }, this.#translate)
        ).segments)
          this.#say(segment);
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#running = null;
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
    beginEvents(this.#reply);
  }

  write(event: unknown): void {
    this.begin();
    if (!this.#reply.raw.destroyed) this.#reply.raw.write(formatEvent(JSON.stringify(event)));
  }

  end(): void {
    if (this.hasBegun) this.#reply.raw.end();
  }
}
