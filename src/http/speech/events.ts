/** Speech as Server-Sent Events (WHATWG HTML §9.2): chunks in base64. */
import { formatEvent } from '../server/server-sent-events.ts';

/** OpenAI's `speech.audio.delta` and `speech.audio.done`. Tokens are not counted, so usage is 0. */
export async function* toOpenAiEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  for await (const chunk of chunks) yield event({ type: 'speech.audio.delta', audio: base64Of(chunk) });
  yield event({ type: 'speech.audio.done', usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } });
}

/** One event with `value` as JSON. */
export function event(value: object): string {
  return formatEvent(JSON.stringify(value));
}

/** `chunk` in base64, as events have it. */
export function base64Of(chunk: Uint8Array): string {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('base64');
}
