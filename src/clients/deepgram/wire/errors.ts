/** Errors as Deepgram's clients expect them (developers.deepgram.com, "Errors"). */
import { z } from 'zod';
import type { ErrorCode, TrunklineError } from '../../../foundation/errors.ts';
import { nameSchemas } from '../../../http/server/named-schemas.ts';

/** Deepgram's names of our codes. Other codes are our own in upper case. */
const DEEPGRAM_CODES: Partial<Readonly<Record<ErrorCode, string>>> = {
  api_key_missing: 'INVALID_AUTH',
  invalid_api_key: 'INVALID_AUTH',
  role_refused: 'INSUFFICIENT_PERMISSIONS',
  message_too_large: 'PAYLOAD_TOO_LARGE',
  upload_too_large: 'PAYLOAD_TOO_LARGE',
  too_many_requests: 'TOO_MANY_REQUESTS',
  batch_queue_full: 'TOO_MANY_REQUESTS',
};

/** Longest text of the header `dg-error`. */
const HEADER_MAX_CHARS = 300;

/** The body of an error: SDKs for Python print `err_msg`, those for JavaScript pass all of it on as text. */
export const deepgramError = z.object({ err_code: z.string(), err_msg: z.string(), request_id: z.string() });

nameSchemas({ DeepgramError: deepgramError });

/** As {@link deepgramError}. */
export type DeepgramError = z.infer<typeof deepgramError>;

/** `failure` of the request `requestId` as Deepgram's clients expect it. */
export function toDeepgramError({ code, message }: TrunklineError, requestId: string): DeepgramError {
  return { err_code: deepgramCode(code), err_msg: message, request_id: requestId };
}

/** Deepgram's name for one of our codes. */
export function deepgramCode(code: ErrorCode): string {
  return DEEPGRAM_CODES[code] ?? code.toUpperCase();
}

/** The header `dg-error`, in which Deepgram repeats the message of a refused handshake: printable ASCII alone. */
export function errorHeader({ message }: TrunklineError): string {
  return message.replaceAll(/[^ -~]+/g, ' ').slice(0, HEADER_MAX_CHARS);
}
