/** What a bridge says when it does not take a call, in one line for people. */
import type { IncomingMessage } from 'node:http';

/** Most that is read of an answer, and shown of one that has no shape that we know. */
const BODY_MAX_BYTES = 65_536;
const TEXT_MAX_CHARS = 200;

/**
 * The status of an HTTP answer with the code and message in its `body`, where it is an error of the shape `{"error":
 * {"code", "message"}}`: `503 too_many_calls: 40 calls are live, which is all that MAX_CALLS allows`. Of another body
 * it shows the beginning.
 */
export function describeAnswer(status: number, body: string): string {
  const { code, message } = readError(body);
  if (code !== '') return `${status} ${code}${message === '' ? '' : `: ${message}`}`;
  const text = printable(body).trim().slice(0, TEXT_MAX_CHARS);
  return text === '' ? String(status) : `${status}: ${text}`;
}

/** Reads an answer to its end, or as much as is wanted of it. Never rejects. */
export async function readBody(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes >= BODY_MAX_BYTES) break;
    }
  } catch {
    // What came before the connection broke is all there is.
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, BODY_MAX_BYTES);
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

/** A foreign bridge may say anything, and a terminal obeys control characters. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
