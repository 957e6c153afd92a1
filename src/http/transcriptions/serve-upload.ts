/** How an uploaded recording is served: admitted, received, transcribed, answered and released. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONTEXT_MAX_CHARS } from '../../../engine/contract.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Place, Recordings } from '../../recordings/recordings.ts';
import type { RecordingTask, RecordingTranscript } from '../../recordings/transcribe.ts';
import type { Translator } from '../../recordings/translate.ts';
import type { Access } from '../access/access.ts';
import { requireModel } from '../models.ts';
import type { ClientFamilies } from '../server/client-families.ts';
import type { Failures } from '../server/errors.ts';
import { goneSignal } from '../server/gone-signal.ts';
import type { TranscriptionForm } from './fields.ts';
import { showsTimes } from './formats.ts';
import { isLanguageGiven, requireLanguage } from './languages.ts';
import { type Fields, receiveUpload } from './upload.ts';

/** Tells what is no fault of the recording and changes nothing in the answer. */
const WARNING_HEADER = 'x-trunkline-warning';
/** What a request with hot words is told where they are passed over. */
export const HOT_WORDS_WARNING = 'this recogniser has no use for hot words';

/** What all routes for recordings share. */
export interface TranscriptionContext {
  readonly recordings: Recordings;
  readonly translator: Translator;
  readonly settings: Pick<Settings, 'UPLOAD_MAX_BYTES' | 'ASR_MODEL' | 'ASR_FINAL_MODEL' | 'TTS_MODEL'>;
  readonly access: Access;
  readonly failures: Failures;
  readonly families: ClientFamilies;
}

/** A request and its answer. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A recording that has been received. */
export interface UploadedRecording extends Exchange {
  readonly form: TranscriptionForm;
  /** The languages of the recogniser. */
  readonly languages: readonly string[];
  /** What is spoken, BCP-47, as the request or a setting says; null = the recogniser finds it out. */
  readonly spoken: string | null;
  /** Its `signal` aborts when the client goes away, or when the server cannot wait any longer. */
  readonly task: RecordingTask;
}

/** How a route for recordings differs from the others. */
export interface UploadRoute {
  /** Checks the fields of the form. */
  readonly readForm: (fields: Fields) => TranscriptionForm;
  /** Transcribes the recording and answers the request. */
  readonly answer: (context: TranscriptionContext, recording: UploadedRecording) => Promise<void>;
}

/**
 * Serves one upload.
 * @throws TrunklineError `draining`, `batch_queue_full`, `upload_disk_full`, what is wrong with the upload, and what
 * the route throws
 */
export async function serveUpload(
  context: TranscriptionContext,
  exchange: Exchange,
  { readForm, answer }: UploadRoute,
): Promise<void> {
  const place = await context.recordings.admit();
  try {
    const recording = await receiveRecording(context, place, exchange, readForm);
    await answer(context, recording);
  } finally {
    await place.release();
  }
}

async function receiveRecording(
  { recordings, settings, access, families }: TranscriptionContext,
  { path, workFolder, signal }: Place,
  { request, reply }: Exchange,
  readForm: UploadRoute['readForm'],
): Promise<UploadedRecording> {
  const { disk } = recordings;
  const form = readForm(await receiveUpload(request, { path, disk, maxBytes: settings.UPLOAD_MAX_BYTES }));
  requireModel('recogniser', form.model, { settings, families });
  const task: RecordingTask = {
    path,
    workFolder,
    channels: form.channels,
    timed: showsTimes(form),
    spelled: form.include.includes('logprobs'),
    isLanguageGiven: isLanguageGiven(form.language),
    ...(form.language && { language: form.language }),
    tenant: access.tenantOf(request),
    signal: AbortSignal.any([signal, goneSignal(reply)]),
  };
  const languages = await recordings.languages(task.signal);
  const known = knownOf(form, recordings);
  requireLanguage(form.language ?? '', languages);
  const spoken = recordings.spokenIn(form.language);
  if (known.hotWords.length > 0 && !recordings.takesHotWords) reply.header(WARNING_HEADER, HOT_WORDS_WARNING);
  if (form.include.length > 0 && !recordings.hasLogprobs)
    throw new TrunklineError(
      'invalid_request',
      'include: got "logprobs", expected nothing: this recogniser does not say how probable its tokens are',
      'include',
    );
  return { request, reply, form, languages, spoken, task: { ...task, ...known } };
}

/** What is known of the speech: a prompt is read by the recogniser itself where that can. */
export function knownOf(
  { prompt = '', hotWords, namedHotWords }: TranscriptionForm,
  { takesContext }: Recordings,
): { readonly hotWords: readonly string[]; readonly context?: string } {
  const context = prompt.trim().slice(-CONTEXT_MAX_CHARS);
  return takesContext && context !== '' ? { hotWords: namedHotWords, context } : { hotWords };
}

/** Transcribes a received recording. A fault of the recording is one of the field `file`. */
export async function transcribeUpload(
  { recordings }: TranscriptionContext,
  { task }: UploadedRecording,
  listener: Pick<RecordingTask, 'onSegment' | 'onProgress'> = {},
): Promise<RecordingTranscript> {
  try {
    return await recordings.transcribe({ ...task, ...listener });
  } catch (error) {
    const isOfFile =
      error instanceof TrunklineError && (error.code === 'audio_unreadable' || error.code === 'audio_too_long');
    throw isOfFile ? new TrunklineError(error.code, error.message, 'file') : error;
  }
}
