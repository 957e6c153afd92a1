/** Errors as clients of the Qwen3 servers expect them (github.com/jaaacki/qwen3-tts and qwen3-asr). */
import { z } from 'zod';
import type { ErrorCode, TrunklineError } from '../../../foundation/errors.ts';
import type { ClientFields, FailedRequest } from '../../../http/server/client-families.ts';
import { nameSchemas } from '../../../http/server/named-schemas.ts';

/** The Qwen3 servers' names of our codes. Other codes are our own in upper case. */
const QWEN_CODES: Partial<Readonly<Record<ErrorCode, string>>> = {
  audio_unreadable: 'AUDIO_DECODE_FAILED',
  translation_failed: 'TRANSLATION_FAILED',
  too_many_requests: 'QUEUE_FULL',
  batch_queue_full: 'QUEUE_FULL',
};

/** The body of an error as the Qwen3 servers have it. */
export const qwenError = z.object({
  code: z.string(),
  message: z.string(),
  statusCode: z.int(),
  context: z.object({ requestId: z.string(), param: z.string().optional() }),
});

nameSchemas({ QwenError: qwenError });

/** As {@link qwenError}. */
export type QwenError = z.infer<typeof qwenError>;

/** `failure` as the Qwen3 servers' clients expect it. */
export function toQwenError(failure: TrunklineError, { requestId, status, fields }: FailedRequest): QwenError {
  const { message, param } = failure;
  const context = { requestId, ...(param !== null && { param }) };
  return { code: qwenCode(failure, fields), message, statusCode: status, context };
}

/** The Qwen3 servers' status for a file that is missing or is no audio; ours is 400. */
const UNPROCESSABLE = 422;

/** The HTTP status that the Qwen3 servers' clients expect. */
export function qwenStatus({ code, param, status }: TrunklineError): number {
  const isOfFile = code === 'audio_unreadable' || (code === 'invalid_request' && param === 'file');
  return isOfFile ? UNPROCESSABLE : status;
}

function qwenCode({ code, param }: TrunklineError, fields: ClientFields): string {
  if (code === 'invalid_request' && param === 'voice') return 'UNKNOWN_VOICE';
  if (code === 'invalid_request' && param === 'input' && isEmptyInput(fields)) return 'EMPTY_INPUT';
  return QWEN_CODES[code] ?? code.toUpperCase();
}

function isEmptyInput({ input = '' }: ClientFields): boolean {
  return typeof input === 'string' && input.trim() === '';
}
