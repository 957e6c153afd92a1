/** An HTTP answer with which a server does not accept a call, in one line for people. */
import type { IncomingMessage } from 'node:http';
import { readBounded } from '../foundation/bounded-body.ts';

const BODY_MAX_BYTES = 65_536;
const TEXT_MAX_CHARS = 200;

/**
 * The status of an HTTP answer, with code and message where `body` is an error of the shape `{"error": {"code",
 * "message"}}`: `503 too_many_calls: 40 calls are live, which is all that MAX_CALLS allows`. Of another body it shows
 * the beginning.
 */
export function describeAnswer(status: number, body: string): string {
  const { code, message } = readError(body);
  if (code !== '') return `${status} ${code}${message === '' ? '' : `: ${message}`}`;
  const text = printable(body).trim().slice(0, TEXT_MAX_CHARS);
  return text === '' ? String(status) : `${status}: ${text}`;
}

/** The body of an answer; '' when it is too long or the connection breaks. Never rejects. */
export async function readBody(answer: IncomingMessage): Promise<string> {
  const body = await readBounded(answer, BODY_MAX_BYTES).catch(() => null);
  return body === null ? '' : new TextDecoder().decode(body);
}

function readError(body: string): { code: string; message: string } {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; message?: unknown } | null };
    return { code: textOf(error?.code), message: textOf(error?.message) };
  } catch {
    return { code: '', message: '' };
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? printable(value) : '';
}

/** Another server's text may hold anything, and a terminal obeys control characters. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
