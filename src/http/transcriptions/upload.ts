/** Takes a multipart upload in: the file goes to disk as it comes, the fields are few and short. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { FastifyRequest } from 'fastify';
import { TrunklineError } from '../../foundation/errors.ts';
import { isDiskTrouble } from '../../foundation/folders/disk.ts';
import type { RecordingDisk } from '../../recordings/disk.ts';
import { rememberFields } from '../server/client-families.ts';
import { describe } from '../server/echo.ts';

/** What an upload may hold beside its file. */
export const UPLOAD_LIMITS = { files: 1, fields: 40, fieldSize: 65_536, fieldNameSize: 100, parts: 41 } as const;

/** The form's fields by their name without `[]`, each with all of its values in order. */
export type Fields = ReadonlyMap<string, readonly string[]>;

/** Largest head of a multipart body beside its file: what `Content-Length` may be over the limit for. */
const ENVELOPE_MAX_BYTES = UPLOAD_LIMITS.fields * UPLOAD_LIMITS.fieldSize;

/** Where the file of a request goes. */
interface UploadTarget {
  readonly path: string;
  readonly disk: RecordingDisk;
  /** UPLOAD_MAX_BYTES. */
  readonly maxBytes: number;
}

/**
 * Writes the file of a multipart request to `path` and returns the other fields. The file's name and type do not
 * matter.
 * @throws TrunklineError `upload_too_large`, `upload_disk_full`, or `invalid_request` where there is no file or the
 * form is broken; what a full disk says
 */
export async function receiveUpload(request: FastifyRequest, { path, disk, maxBytes }: UploadTarget): Promise<Fields> {
  requireForm(request);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes + ENVELOPE_MAX_BYTES) throw tooLarge(maxBytes);
  const fields = new Map<string, string[]>();
  let hasFile = false;
  try {
    for await (const part of partsOf(request, { ...UPLOAD_LIMITS, fileSize: maxBytes })) {
      if (part.type === 'field') {
        const name = nameOf(part).replace(/\[\]$/, '');
        fields.set(name, [...(fields.get(name) ?? []), fieldText(part)]);
        if (name === 'model') rememberFields(request, { model: fields.get(name)?.at(-1) });
        continue;
      }
      await pipeline(part.file, disk.meter(path), createWriteStream(path));
      if (part.file.truncated) throw tooLarge(maxBytes);
      if (part.fieldname !== 'file')
        throw new TrunklineError(
          'invalid_request',
          `file: got a file named ${describe(part.fieldname)}, expected the part to be named file`,
          'file',
        );
      hasFile = true;
    }
  } catch (error) {
    throw isOurs(error) ? error : brokenForm(error);
  }
  if (!hasFile) throw noFile(fields.has('file'));
  return fields;
}

/** @throws TrunklineError `invalid_request` for a body that is no form */
export function requireForm(request: FastifyRequest): void {
  if (request.isMultipart()) return;
  const came = describe(request.headers['content-type']);
  throw new TrunklineError(
    'invalid_request',
    `header content-type: got ${came}, expected multipart/form-data with a part named file`,
    'file',
  );
}

/** Of a form without a file; `isText` = there is a part of that name, without a filename. */
export function noFile(isText: boolean): TrunklineError {
  const came = isText ? 'a text, for the part has no filename' : 'nothing';
  return new TrunklineError(
    'invalid_request',
    `file: got ${came}, expected a recording as a part of that name with a filename`,
    'file',
  );
}

/** What is wrong with a form that could not be read, by what read it. */
const BROKEN_FORMS: Readonly<Record<string, string>> = {
  FST_FILES_LIMIT: 'got more than one file, expected one',
  FST_FIELDS_LIMIT: `got more fields than ${UPLOAD_LIMITS.fields}, which is the most allowed`,
  FST_PARTS_LIMIT: `got more parts than ${UPLOAD_LIMITS.parts}, which is the most allowed`,
  FST_PROTO_VIOLATION: 'got a field whose name every object has, such as constructor; no such field is known',
  FST_INVALID_JSON_FIELD_ERROR: 'got a field whose content type is JSON and whose text is none',
};

/** `error`, which reading a form of one file failed with, for its sender. */
export function brokenForm(error: unknown): TrunklineError {
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  return new TrunklineError(
    'invalid_request',
    BROKEN_FORMS[code] ?? `the form is broken or ended early: ${message}`,
    'file',
  );
}

/** The name of a part, which may have none. */
function nameOf({ fieldname }: { readonly fieldname: string | undefined }): string {
  return fieldname ?? '';
}

/**
 * The parts of a form. @throws TrunklineError `invalid_request` when the client has gone already: nothing would ever
 * come, not even an end
 */
export function partsOf(request: FastifyRequest, limits: BusboyLimits): ReturnType<FastifyRequest['parts']> {
  if (request.raw.destroyed) throw new TrunklineError('invalid_request', 'the upload ended before it was read', 'file');
  return request.parts({ limits });
}

type BusboyLimits = NonNullable<NonNullable<Parameters<FastifyRequest['parts']>[0]>['limits']>;

/** A part of a form that is no file. */
interface FieldPart {
  readonly fieldname: string;
  readonly value: unknown;
  /** It was longer than it may be, and its end is lost. */
  readonly valueTruncated: boolean;
}

/**
 * The text of a field. @throws TrunklineError `invalid_request` for one that is too long, or came as JSON and is a list
 * or an object
 */
export function fieldText({ fieldname, value, valueTruncated }: FieldPart): string {
  if (valueTruncated)
    throw new TrunklineError('invalid_request', `${fieldname}: got a longer text than a field may have`, fieldname);
  if (typeof value !== 'object' || value === null) return String(value);
  throw new TrunklineError('invalid_request', `${fieldname}: got ${describe(value)}, expected text`, fieldname);
}

function tooLarge(maxBytes: number): TrunklineError {
  return new TrunklineError(
    'upload_too_large',
    `the recording is larger than ${maxBytes} bytes, which is the most allowed (UPLOAD_MAX_BYTES)`,
    'file',
  );
}

/** What our own disk does is no fault of the client's. */
function isOurs(error: unknown): boolean {
  return (
    error instanceof TrunklineError ||
    isDiskTrouble(error) ||
    (error as NodeJS.ErrnoException | null)?.syscall !== undefined
  );
}
