/** How the routes of this family answer errors. */
import type { FastifyRequest } from 'fastify';
import type { TrunklineError } from '../../foundation/errors.ts';
import { fieldsOf } from '../../http/server/client-families.ts';
import type { Refusal } from '../../http/server/errors.ts';
import { type QwenError, qwenError, qwenStatus, toQwenError } from './wire/errors.ts';

/** `failure` of `request` to a path of theirs. */
export function errorOf(failure: TrunklineError, request: FastifyRequest): QwenError {
  const status = qwenStatus(failure);
  return toQwenError(failure, { requestId: request.id, status, fields: fieldsOf(request) });
}

function refuse(failure: TrunklineError, request: FastifyRequest): Refusal {
  return { status: qwenStatus(failure), body: errorOf(failure, request) };
}

/** What the configuration of each of these routes has. */
export const QWEN_ROUTE = { refusal: refuse, errorBody: qwenError } as const;
