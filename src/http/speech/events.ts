/** Speech as Server-Sent Events (WHATWG HTML §9.2): chunks in base64. */
import { formatEvent } from '../server/server-sent-events.ts';

/** OpenAI's `speech.audio.delta` and `speech.audio.done`. Tokens are not counted, so usage is 0. */
export async function* toOpenAiEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  for await (const chunk of chunks) yield event({ type: 'speech.audio.delta', audio: base64Of(chunk) });
  yield event({ type: 'speech.audio.done', usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } });
}

/** The Qwen3-TTS server's events: a bare line of base64 for each stretch of sound as it is made, then `[DONE]`. */
export async function* toQwenEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  for await (const chunk of chunks) yield formatEvent(base64Of(chunk));
  yield formatEvent('[DONE]');
}

/** The last of the Qwen3-TTS server's events when speech fails. */
export function qwenFailure(failure: object): string {
  const { message = 'speech failed' } = failure as { message?: string };
  return formatEvent(`[ERROR] ${message.replaceAll(/\s+/g, ' ')}`);
}

/** One event with `value` as JSON. */
export function event(value: object): string {
  return formatEvent(JSON.stringify(value));
}

function base64Of(chunk: Uint8Array): string {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('base64');
}
