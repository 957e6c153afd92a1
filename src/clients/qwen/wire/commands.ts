/**
 * Reads the options and commands of a client of the Qwen3-ASR server's socket, from its URL and its text messages.
 */
import { ENGINE_RATE_HZ } from '../../../../engine/contract.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import { requireHotWords, splitHotWords } from '../../../foundation/hot-words.ts';
import { describe } from '../../../http/server/echo.ts';
import { requireLanguage } from '../../../http/transcriptions/languages.ts';
import type { QwenError } from './errors.ts';

/** The range of sampling rates, in Hz. */
export const SOCKET_RATE_MIN_HZ = 8000;
export const SOCKET_RATE_MAX_HZ = 48_000;
/** Longest text message. A command with all the hot words that may be has half of this. */
export const COMMAND_MAX_CHARS = 16_384;

const TRUE = ['true', '1', 'yes'];
const FALSE = ['false', '0', 'no'];

/** Options in the URL. */
export interface SocketQuery {
  readonly useServerVad: boolean;
  /** Sampling rate of the client's audio. */
  readonly rateHz: number;
}

/** A text message; null = the message has no such field. */
export type SocketCommand =
  | { readonly action: 'flush' | 'reset' }
  | {
      readonly action: 'config';
      readonly language: string | null;
      readonly useServerVad: boolean | null;
      readonly hotWords: readonly string[] | null;
    };

/** @throws TrunklineError `invalid_request` with the parameter, its value and the expected value */
export function readSocketQuery(query: {
  readonly use_server_vad?: string | undefined;
  readonly sample_rate?: string | undefined;
}): SocketQuery {
  const { use_server_vad: vad = '', sample_rate: rate = '' } = query;
  return {
    useServerVad: vad === '' ? true : readFlag('use_server_vad', vad),
    rateHz: rate === '' ? ENGINE_RATE_HZ : readRate(rate),
  };
}

/**
 * Reads one text message to a socket whose samples come at `rateHz`, for a recogniser of `languages`.
 * @throws TrunklineError `message_too_large`, `message_malformed`, `invalid_request` (with `param`) or
 * `unsupported_language`
 */
export function readCommand(text: string, rateHz: number, languages: readonly string[]): SocketCommand {
  if (text.length > COMMAND_MAX_CHARS)
    throw new TrunklineError(
      'message_too_large',
      `got a text message of ${text.length} characters, expected at most ${COMMAND_MAX_CHARS}`,
    );
  const command = parseObject(text);
  const { action } = command;
  if (action === 'flush' || action === 'reset') return { action };
  if (action === 'config') return readConfig(command, rateHz, languages);
  throw wrong('action', action, 'expected "flush", "reset" or "config"');
}

/** `error`, which is `failure` and did not end its socket, with the code that sockets have for it. */
export function nameSocketError(failure: TrunklineError, error: QwenError): QwenError {
  return { ...error, code: codeOf(failure) ?? error.code };
}

/** The Qwen3-ASR server's names. */
function codeOf({ code, param }: TrunklineError): string | null {
  if (code === 'message_malformed') return 'INVALID_JSON';
  if (code !== 'invalid_request') return null;
  return { action: 'UNKNOWN_ACTION', sample_rate: 'UNSUPPORTED_SAMPLE_RATE' }[param ?? ''] ?? null;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw new TrunklineError(
    'message_malformed',
    'got a text message that is no JSON object, expected for example {"action":"flush"}',
  );
}

/** Checks all fields before any takes effect. */
function readConfig(
  { language, use_server_vad: vad, sample_rate: rate, hot_words: words, hotWords }: Readonly<Record<string, unknown>>,
  rateHz: number,
  languages: readonly string[],
): SocketCommand {
  if (!isMissing(rate) && rate !== rateHz)
    throw wrong(
      'sample_rate',
      rate,
      `expected ${rateHz}, the rate of this socket; open another one for another rate: /ws/transcribe?sample_rate=…`,
    );
  return {
    action: 'config',
    language: readLanguage(language, languages),
    useServerVad: isMissing(vad) ? null : readFlag('use_server_vad', vad),
    hotWords: readHotWords(words ?? hotWords),
  };
}

/** A list, or a text with commas; an empty one takes back what was said before. */
function readHotWords(words: unknown): string[] | null {
  if (words === undefined || words === null) return null;
  if (typeof words === 'string') return requireHotWords(splitHotWords(words), 'hot_words');
  const isList = Array.isArray(words) && words.every((word) => typeof word === 'string');
  if (!isList) throw wrong('hot_words', words, 'expected a list of texts');
  return requireHotWords(words, 'hot_words');
}

function readLanguage(language: unknown, languages: readonly string[]): string | null {
  if (isMissing(language)) return null;
  if (typeof language !== 'string') throw wrong('language', language, 'expected text');
  requireLanguage(language, languages);
  return language;
}

function isMissing(value: unknown): value is null | undefined | '' {
  return value === undefined || value === null || value === '';
}

function readFlag(param: string, value: unknown): boolean {
  const word = String(typeof value === 'object' ? '' : value).toLowerCase();
  if (TRUE.includes(word)) return true;
  if (FALSE.includes(word)) return false;
  throw wrong(param, value, 'expected true, 1 or yes, or false, 0 or no');
}

function readRate(text: string): number {
  const rateHz = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (rateHz >= SOCKET_RATE_MIN_HZ && rateHz <= SOCKET_RATE_MAX_HZ) return rateHz;
  throw wrong('sample_rate', text, `expected a whole number of Hz from ${SOCKET_RATE_MIN_HZ} to ${SOCKET_RATE_MAX_HZ}`);
}

function wrong(param: string, came: unknown, expected: string): TrunklineError {
  return new TrunklineError('invalid_request', `${param}: got ${describe(came)}, ${expected}`, param);
}
