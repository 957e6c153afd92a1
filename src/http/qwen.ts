/**
 * Tells clients of OpenAI from clients of the Qwen3 servers (github.com/jaaacki/qwen3-tts and qwen3-asr), which expect
 * errors of another shape. On paths that only those servers have, the client is theirs. On paths that OpenAI has too,
 * the model decides.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ErrorCode, TrunklineError } from '../foundation/errors.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { isQwenVoice } from '../speech/foreign-voices.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `always`: only the Qwen3 servers have this path. `by-model`: OpenAI has it too, and the requested model decides.
     */
    readonly qwen?: 'always' | 'by-model';
  }
}

/** `unknown`: nothing in the request tells. */
export type Client = 'openai' | 'qwen' | 'unknown';

const QWEN_MODEL = /^(?:qwen\/)?qwen3-/i;

/** Whether `model` is a name of the Qwen3 servers' models: `qwen3-tts`, `Qwen/Qwen3-ASR-1.7B`. */
export function isQwenModel(model: string): boolean {
  return QWEN_MODEL.test(model);
}

/** The fields that identify the client, and the text to speak. */
interface ClientFields {
  readonly model?: unknown;
  readonly voice?: unknown;
  readonly input?: unknown;
}

/** Fields of requests without a JSON body. */
const formFields = new WeakMap<FastifyRequest, ClientFields>();

/** Stores the form fields of `request`, whose body fastify has not read. */
export function rememberFields(request: FastifyRequest, fields: ClientFields): void {
  formFields.set(request, fields);
}

/** The client that sends such fields. The Qwen3-TTS server's examples name no model, but a voice only it has. */
export function clientOf({ model, voice }: ClientFields): Client {
  if (typeof model === 'string' && model !== '') return isQwenModel(model) ? 'qwen' : 'openai';
  return typeof voice === 'string' && isQwenVoice(voice) ? 'qwen' : 'unknown';
}

/** The client of `request`, as far as it is known yet. */
export function clientOfRequest(request: FastifyRequest): Client {
  const { qwen } = request.routeOptions.config;
  if (qwen === undefined) return 'openai';
  return qwen === 'always' ? 'qwen' : clientOf(formFields.get(request) ?? fieldsOf(request.body));
}

/** The Qwen3 servers' names of our codes. Other codes are our own in upper case. */
const QWEN_CODES: Partial<Readonly<Record<ErrorCode, string>>> = {
  audio_unreadable: 'AUDIO_DECODE_FAILED',
  translation_failed: 'TRANSLATION_FAILED',
  too_many_requests: 'QUEUE_FULL',
  batch_queue_full: 'QUEUE_FULL',
};

/** The body of an error as the Qwen3 servers have it. */
export interface QwenError {
  readonly code: string;
  readonly message: string;
  readonly statusCode: number;
  readonly context: { readonly requestId: string; readonly param?: string };
}

/** `failure` of `request` as the Qwen3 servers' clients expect it. */
export function toQwenError(failure: TrunklineError, request: FastifyRequest): QwenError {
  const { message, param } = failure;
  const context = { requestId: request.id, ...(param !== null && { param }) };
  return { code: qwenCode(failure, request), message, statusCode: statusFor(failure, request), context };
}

/** The Qwen3 servers' status for a file that is missing or is no audio; ours is 400. */
const UNPROCESSABLE = 422;

/** The HTTP status that the client of `request` expects for `failure`. */
export function statusFor({ code, param, status }: TrunklineError, request: FastifyRequest): number {
  const isOfFile = code === 'audio_unreadable' || (code === 'invalid_request' && param === 'file');
  return isOfFile && clientOfRequest(request) === 'qwen' ? UNPROCESSABLE : status;
}

function qwenCode({ code, param }: TrunklineError, request: FastifyRequest): string {
  if (code === 'invalid_request' && param === 'voice') return 'UNKNOWN_VOICE';
  if (code === 'invalid_request' && param === 'input' && isEmptyInput(request)) return 'EMPTY_INPUT';
  return QWEN_CODES[code] ?? code.toUpperCase();
}

function isEmptyInput(request: FastifyRequest): boolean {
  const { input = '' } = formFields.get(request) ?? fieldsOf(request.body);
  return typeof input === 'string' && input.trim() === '';
}

function fieldsOf(body: unknown): ClientFields {
  return typeof body === 'object' && body !== null ? body : {};
}

/** Counts requests of the Qwen3 servers' clients, so that an operator sees when the last client has moved. */
export function countQwenRequests(app: FastifyInstance, metrics: Pick<Metrics, 'qwenRequests'>): void {
  app.addHook('onResponse', async (request) => {
    if (clientOfRequest(request) === 'qwen') metrics.qwenRequests.inc({ route: request.routeOptions.url ?? 'none' });
  });
}
