/** Takes the recording of a `POST /v1/listen` in: the body itself, or what is at the URL in it. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyRequest } from 'fastify';
import { detectAudio } from '../../audio/detect.ts';
import { wavHeaderOf } from '../../audio/wav.ts';
import { readBounded } from '../../foundation/bounded-body.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { isDiskTrouble } from '../../foundation/folders/disk.ts';
import type { Codec } from '../../foundation/units.ts';
import type { RecordingDisk } from '../../recordings/disk.ts';
import { download, type InputSettings, limitBytes } from '../../recordings/inputs.ts';
import { readFileUrl } from './wire/file-query.ts';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;
const JSON_MAX_BYTES = 65_536;

interface FileTarget {
  readonly path: string;
  readonly disk: RecordingDisk;
  readonly settings: InputSettings;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How bare samples come; null = the bytes say what they are. */
  readonly samples: Codec | null;
}

/**
 * Writes the recording to `path`; returns the SHA-256 of its bytes in hex. The type of the body matters only where it
 * is JSON: clients send many others, or none.
 * @throws TrunklineError `invalid_request`, `message_malformed`, `upload_too_large`, `upload_disk_full` or
 * `input_refused`; what a full disk says
 */
export async function receiveFile(request: FastifyRequest, target: FileTarget): Promise<string> {
  const body = request.body as Readable | undefined;
  if (body === undefined || body === null) throw noBody();
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) return receiveBytes(request, body, target);
  const text = await readBounded(body, JSON_MAX_BYTES);
  if (text === null)
    throw new TrunklineError('message_too_large', `body: got more than ${JSON_MAX_BYTES} bytes of JSON`);
  const { path, disk, settings, clock, signal } = target;
  await download({ url: readFileUrl(new TextDecoder().decode(text)), to: path, disk, settings, clock, signal });
  return hashOf(path);
}

async function receiveBytes(request: FastifyRequest, body: Readable, target: FileTarget): Promise<string> {
  const { path, disk, settings, samples, signal } = target;
  const maxBytes = settings.UPLOAD_MAX_BYTES;
  const announced = Number(request.headers['content-length'] ?? 0);
  const limit = limitBytes(maxBytes);
  // What is announced is refused before it comes, by the same words.
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const hash = createHash('sha256');
  let bytes = 0;
  async function* received(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (bytes === 0 && samples !== null && detectAudio(chunk) !== 'wav') yield wavHeaderOf(samples, null);
      bytes += chunk.length;
      hash.update(chunk);
      yield chunk;
    }
  }
  try {
    await pipeline(received, limit, disk.meter(path), createWriteStream(path), { signal });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof TrunklineError || isDiskTrouble(error) || !body.errored) throw error;
    throw new TrunklineError('invalid_request', 'body: the upload ended early');
  }
  if (bytes === 0) throw noBody();
  return hash.digest('hex');
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function noBody(): TrunklineError {
  return new TrunklineError('invalid_request', 'body: got nothing, expected a recording, or JSON with its url');
}

function tooLarge(maxBytes: number): TrunklineError {
  return new TrunklineError(
    'upload_too_large',
    `the recording is larger than ${maxBytes} bytes, which is the most allowed (UPLOAD_MAX_BYTES)`,
  );
}
