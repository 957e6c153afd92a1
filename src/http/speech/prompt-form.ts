/** The form in which a recording of a prompt is uploaded. */
import type { FastifyRequest } from 'fastify';
import { joinBytes } from '../../audio/bytes.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { brokenForm, fieldText, noFile, partsOf, requireForm, UPLOAD_LIMITS } from '../transcriptions/upload.ts';

/** Two minutes of stereo at 48 kHz have 23 MB. */
const RECORDING_MAX_BYTES = 26_214_400;
const TEXT_MAX_CHARS = 1000;

/** What came. */
interface PromptForm {
  /** The file, in a buffer of its own. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
  readonly voice: string | undefined;
}

/** A form with one file. */
interface FileForm {
  /** The file, in a buffer of its own. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly fields: ReadonlyMap<string, string>;
}

/** @throws TrunklineError `invalid_request` for a form that is broken or lacks something, `upload_too_large` */
export async function readPromptForm(request: FastifyRequest): Promise<PromptForm> {
  const { bytes, fields } = await readFileForm(request, RECORDING_MAX_BYTES);
  return { bytes, text: readText(fields.get('text')), voice: fields.get('voice') || undefined };
}

/**
 * A form with a `file` of at most `maxBytes`.
 * @throws TrunklineError `invalid_request` for a form that is broken or lacks the file, `upload_too_large`
 */
export async function readFileForm(request: FastifyRequest, maxBytes: number): Promise<FileForm> {
  requireForm(request);
  const fields = new Map<string, string>();
  let bytes: Uint8Array<ArrayBuffer> | null = null;
  try {
    for await (const part of partsOf(request, { ...UPLOAD_LIMITS, fileSize: maxBytes })) {
      if (part.type === 'field') {
        fields.set(part.fieldname, fieldText(part));
        continue;
      }
      const chunks: Uint8Array[] = [];
      for await (const chunk of part.file) chunks.push(chunk as Buffer);
      if (part.file.truncated) throw tooLarge(maxBytes);
      if (part.fieldname === 'file') bytes = new Uint8Array(joinBytes(chunks));
    }
  } catch (error) {
    throw error instanceof TrunklineError ? error : brokenForm(error);
  }
  if (bytes === null) throw noFile(fields.has('file'));
  return { bytes, fields };
}

function readText(text: string | undefined): string {
  const length = text?.trim().length ?? 0;
  if (text !== undefined && length > 0 && length <= TEXT_MAX_CHARS) return text;
  const came = text === undefined ? 'nothing' : `${length} characters`;
  throw new TrunklineError(
    'invalid_request',
    `text: got ${came}, expected the text that the recording says, of at most ${TEXT_MAX_CHARS} characters`,
    'text',
  );
}

function tooLarge(maxBytes: number): TrunklineError {
  return new TrunklineError(
    'upload_too_large',
    `the recording is larger than ${maxBytes} bytes, which is the most allowed`,
    'file',
  );
}
