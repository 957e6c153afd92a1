/**
 * What every door for recordings does: lets one in, takes its upload, has it transcribed, and lets go of it whatever
 * happens.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Recordings } from '../../recordings/recordings.ts';
import type { Recording, RecordingTask } from '../../recordings/transcribe.ts';
import type { Translator } from '../../recordings/translate.ts';
import type { Access } from '../access/access.ts';
import { requireModel } from '../models.ts';
import type { Failures } from '../server/errors.ts';
import { goneSignal } from '../server/gone-signal.ts';
import type { TranscriptionForm } from './fields.ts';
import { showsTimes } from './formats.ts';
import { requireLanguage } from './languages.ts';
import { type Fields, receiveUpload } from './upload.ts';

/** What the doors of this family share. */
export interface RecordingServices {
  readonly recordings: Recordings;
  readonly translator: Translator;
  readonly settings: Pick<Settings, 'UPLOAD_MAX_BYTES' | 'ASR_MODEL' | 'TTS_MODEL'>;
  readonly access: Access;
  readonly failures: Failures;
}

/** An upload that is there. */
export interface Order {
  readonly form: TranscriptionForm;
  /** What the recogniser understands, first the language that is assumed. */
  readonly languages: readonly string[];
  /** Aborts when the client goes away or the gateway must end. */
  readonly signal: AbortSignal;
  /** Transcribes it. */
  hear(listener?: Pick<RecordingTask, 'onSegment' | 'onProgress'>): Promise<Recording>;
}

/**
 * Serves one upload: `read` checks its fields, `work` does what the door is for.
 * @throws TrunklineError `draining`, `batch_queue_full`, `upload_disk_full`, whatever is wrong with the upload, and
 * what `read` and `work` throw
 */
export async function serveRecording(
  doors: RecordingServices,
  {
    request,
    reply,
    read,
  }: { request: FastifyRequest; reply: FastifyReply; read: (fields: Fields) => TranscriptionForm },
  work: (order: Order) => Promise<void>,
): Promise<void> {
  const place = await doors.recordings.admit();
  try {
    const { path, workFolder } = place;
    const { disk } = doors.recordings;
    const form = read(await receiveUpload(request, { path, disk, maxBytes: doors.settings.UPLOAD_MAX_BYTES }));
    requireModel('recogniser', form.model, doors.settings);
    const languages = await doors.recordings.languages();
    requireLanguage(form.language ?? '', languages);
    const signal = AbortSignal.any([place.signal, goneSignal(reply)]);
    const tenant = doors.access.tenantOf(request);
    const task: RecordingTask = { path, workFolder, channels: form.channels, timed: showsTimes(form), tenant, signal };
    await work({
      form,
      languages,
      signal,
      hear: (listener) => doors.recordings.transcribe({ ...task, ...listener }).catch(blameFile),
    });
  } finally {
    await place.release();
  }
}

/** What is wrong with a recording is wrong with the field `file`; who transcribes knows of no fields. */
function blameFile(error: unknown): never {
  const isOfFile =
    error instanceof TrunklineError && (error.code === 'audio_unreadable' || error.code === 'audio_too_long');
  throw isOfFile ? new TrunklineError(error.code, error.message, 'file') : error;
}
