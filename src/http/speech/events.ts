/** Speech as Server-Sent Events (WHATWG HTML §9.2): pieces of it in base64. */
import { formatEvent } from '../server/server-sent-events.ts';

/** OpenAI's `speech.audio.delta` and `speech.audio.done`. Tokens are not counted here, so usage is 0. */
export async function* toOpenAiEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  for await (const chunk of chunks) yield event({ type: 'speech.audio.delta', audio: base64Of(chunk) });
  yield event({ type: 'speech.audio.done', usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } });
}

/** As the Qwen3-TTS server has them: a bare line of base64 for each sentence, and `[DONE]`. */
export async function* toQwenEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  for await (const chunk of chunks) yield formatEvent(base64Of(chunk));
  yield formatEvent('[DONE]');
}

/** Ends such events where speech fails in the middle. */
export function qwenFailure(failure: object): string {
  const { message = 'speech failed' } = failure as { message?: string };
  return formatEvent(`[ERROR] ${message.replaceAll(/\s+/g, ' ')}`);
}

/** One event whose data is `value` in JSON. */
export function event(value: object): string {
  return formatEvent(JSON.stringify(value));
}

function base64Of(chunk: Uint8Array): string {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('base64');
}
