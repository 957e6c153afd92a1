/** Takes a multipart upload in: the file goes to disk as it comes, the fields are few and short. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { FastifyRequest } from 'fastify';
import { isDiskTrouble } from '../../disk.ts';
import { TrunklineError } from '../../errors.ts';
import type { RecordingDisk } from '../../recordings/disk.ts';
import { describe } from '../echo.ts';

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
 * Writes the file of a multipart request to `path` and returns the other fields. The file's name and type do not matter.
 * @throws TrunklineError `upload_too_large`, `upload_disk_full`, or `invalid_request` where there is no file or the form is broken; what a full disk says
 */
export async function receiveUpload(request: FastifyRequest, { path, disk, maxBytes }: UploadTarget): Promise<Fields> {
  if (!request.isMultipart()) throw new TrunklineError('invalid_request', 'expected multipart/form-data with a part named file', 'file');
  if (Number(request.headers['content-length'] ?? 0) > maxBytes + ENVELOPE_MAX_BYTES) throw tooLarge(maxBytes);
  const fields = new Map<string, string[]>();
  let hasFile = false;
  try {
    for await (const part of partsOf(request, { ...UPLOAD_LIMITS, fileSize: maxBytes })) {
      if (part.type === 'field') {
        const name = part.fieldname.replace(/\[\]$/, '');
        fields.set(name, [...(fields.get(name) ?? []), fieldText(part)]);
        continue;
      }
      await pipeline(part.file, disk.meter(path), createWriteStream(path));
      if (part.file.truncated) throw tooLarge(maxBytes);
      if (part.fieldname !== 'file')
        throw new TrunklineError('invalid_request', 'a file came under another name, expected it to be the part file', 'file');
      hasFile = true;
    }
  } catch (error) {
    throw isOurs(error) ? error : new TrunklineError('invalid_request', `the upload is broken or ended early: ${messageOf(error)}`, 'file');
  }
  if (!hasFile) throw new TrunklineError('invalid_request', 'file: got nothing, expected a recording as a part of that name', 'file');
  return fields;
}

/** The parts of a form. @throws TrunklineError `invalid_request` when the client has gone already: nothing would ever come, not even an end */
export function partsOf(request: FastifyRequest, limits: BusboyLimits): ReturnType<FastifyRequest['parts']> {
  if (request.raw.destroyed) throw new TrunklineError('invalid_request', 'the upload ended before it was read', 'file');
  return request.parts({ limits });
}

type BusboyLimits = NonNullable<NonNullable<Parameters<FastifyRequest['parts']>[0]>['limits']>;

/** The text of a field. @throws TrunklineError `invalid_request` for one that came as JSON and is a list or an object */
export function fieldText({ fieldname, value }: { readonly fieldname: string; readonly value: unknown }): string {
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
  return error instanceof TrunklineError || isDiskTrouble(error) || (error as NodeJS.ErrnoException | null)?.syscall !== undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
