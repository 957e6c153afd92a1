/**
 * Every error that a client or an operator can meet: its code, HTTP status, WebSocket close code and SIP status in one
 * registry, so that every answer carries all of them. Codes are never reused. A test compares this table with the one
 * in docs/reference/errors.md.
 */
import { hideCredentials } from './urls.ts';

interface ErrorKind {
  /** HTTP status of a refused request. */
  readonly status: number;
  /** WebSocket close code (RFC 6455 §7.4; 4000–4999 are ours). */
  readonly closeCode: number;
  /** OpenAI's `error.type`. */
  readonly type:
    | 'invalid_request_error'
    | 'authentication_error'
    | 'permission_error'
    | 'not_found_error'
    | 'rate_limit_error'
    | 'server_error';
  /** Status of a refused SIP request (RFC 3261 §21). */
  readonly sipStatus: number;
}

const kind = (status: number, closeCode: number, type: ErrorKind['type'], sipStatus = 500): ErrorKind =>
  Object.freeze({ status, closeCode, type, sipStatus });

/** Every code with its statuses and type. */
export const ERRORS = Object.freeze({
  // A carrier's messages
  message_malformed: kind(400, 1007, 'invalid_request_error', 400),
  message_binary: kind(400, 1003, 'invalid_request_error'),
  message_too_large: kind(413, 1009, 'invalid_request_error', 413),
  media_before_start: kind(400, 4400, 'invalid_request_error'),
  start_repeated: kind(400, 4401, 'invalid_request_error'),
  codec_unsupported: kind(400, 4402, 'invalid_request_error', 488),
  start_timeout: kind(408, 4408, 'invalid_request_error'),
  media_timeout: kind(408, 4409, 'invalid_request_error'),
  audio_too_fast: kind(413, 4414, 'invalid_request_error'),
  reader_too_slow: kind(408, 4413, 'invalid_request_error'),
  call_token_invalid: kind(403, 4403, 'permission_error'),
  // Access
  api_key_missing: kind(401, 4001, 'authentication_error'),
  invalid_api_key: kind(401, 4001, 'authentication_error'),
  credentials_invalid: kind(401, 4001, 'authentication_error'),
  too_many_attempts: kind(429, 4029, 'rate_limit_error'),
  origin_refused: kind(403, 4003, 'permission_error'),
  role_refused: kind(403, 4003, 'permission_error'),
  signature_invalid: kind(403, 4003, 'permission_error'),
  address_refused: kind(403, 4003, 'permission_error'),
  anonymous_refused: kind(403, 4003, 'permission_error'),
  users_unreadable: kind(503, 1013, 'server_error'),
  users_in_file: kind(409, 4003, 'invalid_request_error'),
  user_not_found: kind(404, 4404, 'not_found_error'),
  user_exists: kind(409, 4000, 'invalid_request_error'),
  last_admin: kind(409, 4003, 'invalid_request_error'),
  // Requests
  invalid_request: kind(400, 4000, 'invalid_request_error'),
  audio_unreadable: kind(400, 4415, 'invalid_request_error'),
  audio_too_long: kind(413, 4416, 'invalid_request_error'),
  upload_too_large: kind(413, 4417, 'invalid_request_error'),
  upload_disk_full: kind(503, 1013, 'server_error'),
  unsupported_language: kind(400, 4418, 'invalid_request_error'),
  unsupported_model: kind(400, 4419, 'invalid_request_error'),
  batch_queue_full: kind(429, 4430, 'rate_limit_error'),
  too_many_batches: kind(429, 4431, 'rate_limit_error'),
  batch_not_found: kind(404, 4404, 'not_found_error'),
  result_not_ready: kind(409, 4432, 'invalid_request_error'),
  idempotency_conflict: kind(409, 4433, 'invalid_request_error'),
  input_refused: kind(400, 4434, 'invalid_request_error'),
  recording_lost: kind(410, 4445, 'server_error'),
  asterisk_unavailable: kind(502, 1011, 'server_error'),
  twiml_failed: kind(502, 1011, 'server_error'),
  translation_failed: kind(502, 1011, 'server_error'),
  speech_queue_full: kind(429, 4429, 'rate_limit_error'),
  answer_too_long: kind(413, 4446, 'invalid_request_error'),
  unsupported_format: kind(400, 4420, 'invalid_request_error'),
  dialing_unavailable: kind(501, 4422, 'invalid_request_error'),
  not_implemented: kind(501, 4421, 'invalid_request_error'),
  too_many_requests: kind(429, 1013, 'rate_limit_error'),
  model_not_found: kind(404, 4404, 'not_found_error'),
  prompt_not_found: kind(404, 4404, 'not_found_error'),
  flow_not_found: kind(404, 4404, 'not_found_error'),
  range_refused: kind(416, 4437, 'invalid_request_error'),
  sound_not_found: kind(404, 4404, 'not_found_error'),
  sound_locked: kind(409, 4435, 'invalid_request_error'),
  sound_damaged: kind(500, 1011, 'server_error'),
  recording_unavailable: kind(501, 4436, 'invalid_request_error'),
  call_not_found: kind(404, 4404, 'not_found_error'),
  call_not_ended: kind(409, 4440, 'invalid_request_error'),
  too_many_notes: kind(409, 4441, 'invalid_request_error'),
  records_off: kind(501, 4442, 'invalid_request_error'),
  route_not_found: kind(404, 4404, 'not_found_error'),
  too_many_calls: kind(503, 1013, 'rate_limit_error', 503),
  too_many_listeners: kind(503, 1013, 'rate_limit_error', 503),
  silent_session_ended: kind(503, 1013, 'rate_limit_error'),
  too_many_readers: kind(503, 1013, 'rate_limit_error'),
  disk_full: kind(507, 1011, 'server_error'),
  records_unavailable: kind(503, 1011, 'server_error'),
  shared_state_unavailable: kind(503, 1013, 'server_error', 503),
  gateway_unreachable: kind(503, 1013, 'server_error', 503),
  cluster_key_invalid: kind(403, 4003, 'permission_error'),
  draining: kind(503, 1012, 'server_error', 503),
  engine_unavailable: kind(503, 1011, 'server_error', 503),
  internal: kind(500, 1011, 'server_error'),
} satisfies Record<string, ErrorKind>);

export type ErrorCode = keyof typeof ERRORS;

/** Messages go into answers and logs, and may repeat what a client sent. */
const MESSAGE_MAX_CHARS = 4000;

/**
 * An error with a code of the registry. `message` says what came and what was expected; it holds no speech, number or
 * key, nor what is secret in a URL.
 */
export class TrunklineError extends Error {
  readonly code: ErrorCode;
  /** The request's field that it is about, in OpenAI's sense; null = none. */
  readonly param: string | null;

  constructor(code: ErrorCode, message: string, param: string | null = null) {
    super(hideCredentials(message.slice(0, MESSAGE_MAX_CHARS)));
    this.name = 'TrunklineError';
    this.code = code;
    this.param = param;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get closeCode(): number {
    return ERRORS[this.code].closeCode;
  }

  get sipStatus(): number {
    return ERRORS[this.code].sipStatus;
  }

  /** OpenAI's error body. */
  toBody(): { error: { message: string; type: string; param: string | null; code: string } } {
    return { error: { message: this.message, type: ERRORS[this.code].type, param: this.param, code: this.code } };
  }
}

/**
 * `error` where it has a code already, otherwise an `internal` error with `message`, which tells nothing of the cause.
 */
export function asTrunklineError(error: unknown, message: string): TrunklineError {
  return error instanceof TrunklineError ? error : new TrunklineError('internal', message);
}
