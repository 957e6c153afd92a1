/** Answers with a transcript as Server-Sent Events: each segment is sent as soon as it is there. */
import type { FastifyReply } from 'fastify';
import { languageName } from '../../foundation/languages.ts';
import { toOpenAiLogprobs } from '../../recordings/spoken-tokens.ts';
import type { RecordingTranscript, Segment } from '../../recordings/transcribe.ts';
import { translateSegments } from '../../recordings/translate.ts';
import { beginEvents, formatEvent } from '../server/server-sent-events.ts';
import type { TranscriptionForm } from './fields.ts';
import { logprobsOf, separatorAfter, textOf, usageOf, warningOf } from './formats.ts';
import { type TranscriptionContext, transcribeUpload, type UploadedRecording } from './serve-upload.ts';

/** The events of one API, as objects. */
export interface EventForm {
  segment(segment: Segment, index: number, before: string): unknown;
  end(transcript: RecordingTranscript): unknown;
}

/** OpenAI's TranscriptTextDeltaEvent and TranscriptTextDoneEvent. The deltas joined are the text. */
function openAiEvents({ include }: Pick<TranscriptionForm, 'include'>): EventForm {
  const hasLogprobs = include.length > 0;
  return {
    segment: (segment, _index, before) => {
      const separator = separatorAfter(before, segment);
      return {
        type: 'transcript.text.delta',
        delta: separator + segment.text,
        ...(hasLogprobs && { logprobs: toOpenAiLogprobs(segment.tokens ?? [], separator) }),
      };
    },
    end: (transcript) => ({
      type: 'transcript.text.done',
      text: textOf(transcript.segments),
      ...(hasLogprobs && { logprobs: logprobsOf(transcript.segments) }),
      ...(transcript.spokenLanguage === null && { language: null }),
      ...warningOf(transcript),
      usage: usageOf(transcript),
    }),
  };
}

/** Answers with OpenAI's events. */
export function answerOpenAiEvents(context: TranscriptionContext, recording: UploadedRecording): Promise<void> {
  return streamTranscript(context, recording, openAiEvents(recording.form));
}

/**
 * Answers with events, in `target_language` if the form has one. The answer begins when the recording proves to be one:
 * an error before that has its HTTP status, and an error after it is an event, as OpenAI's clients expect it. What
 * waits for a slow client, or for a translation, is text alone and bounded by the recording's length.
 */
export async function streamTranscript(
  context: TranscriptionContext,
  recording: UploadedRecording,
  events: EventForm,
): Promise<void> {
  const { translator, failures } = context;
  const { request, reply, form, languages, spoken, task } = recording;
  const stream = new EventStream(reply);
  const sent: Segment[] = [];
  const send = (segment: Segment): void => {
    stream.write(events.segment(segment, sent.length, sent.at(-1)?.text ?? ''));
    sent.push(segment);
  };
  const target = languageName(form.target_language ?? '', languages);
  if (target !== '') translator.assertConfigured();
  const translate = (lines: readonly string[]): Promise<string[]> => translator.translate(lines, target, task.signal);
  const isTranslated = target !== '' && target !== languageName(spoken ?? '');
  const translation = isTranslated ? new SegmentTranslation(translate, send) : null;
  try {
    const transcript = await transcribeUpload(context, recording, {
      onProgress: () => stream.begin(),
      onSegment: (segment) => (translation === null ? send(segment) : translation.push(segment)),
    });
    await translation?.finish();
    stream.write(events.end({ ...transcript, segments: sent }));
  } catch (error) {
    if (!stream.hasBegun) throw error;
    stream.write(failures.tell(error, request));
  } finally {
    stream.end();
  }
}

/** Translates segments in their order, as many at once as wait. */
class SegmentTranslation {
  readonly #translate: (lines: readonly string[]) => Promise<readonly string[]>;
  readonly #send: (segment: Segment) => void;
  #waiting: Segment[] = [];
  #running: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(translate: (lines: readonly string[]) => Promise<readonly string[]>, send: (segment: Segment) => void) {
    this.#translate = translate;
    this.#send = send;
  }

  /** @throws what an earlier translation failed with: the rest need not be transcribed */
  push(segment: Segment): void {
    if (this.#failure !== null) throw this.#failure.error;
    this.#waiting.push(segment);
    this.#running ??= this.#run();
  }

  /** Resolves when all segments have been sent. @throws as {@link push} */
  async finish(): Promise<void> {
    await this.#running;
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const segments = this.#waiting;
        this.#waiting = [];
        const translated = await translateSegments({ durationMs: 0, spokenLanguage: '', segments }, this.#translate);
        for (const segment of translated.segments) this.#send(segment);
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
