import assert from 'node:assert/strict';
import { ChatLines, ChatStreamError } from '../../../src/foundation/chat-stream.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** What a chat endpoint streams, whole and cut in two anywhere. */
export const target: FuzzTarget = {
  name: 'chat-stream',
  seeds: [
    'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"}}]}\n\ndata: [DONE]\n\n',
    'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]}}]}' +
      '\r\n\r\n',
    ': comment\nevent: x\ndata: {"choices":[]}\n',
  ].map((text) => Buffer.from(text)),
  words: ['data:', 'data: [DONE]\n', '"tool_calls":[', '"delta":', 'null', '\n', '\r\n', '[[[['],
  run(input) {
    const text = Buffer.from(input).toString();
    const at = (input[0] ?? 0) % (text.length + 1);
    const [whole, cut] = [[text], [text.slice(0, at), text.slice(at)]].map(read);
    // A line break that is cut in two is one all the same.
    if (!text.includes('\r')) assert.deepEqual(cut, whole);
  },
};

function read(parts: readonly string[]): unknown {
  const lines = new ChatLines();
  try {
    return parts.flatMap((part) => lines.push(part));
  } catch (error) {
    assert(error instanceof ChatStreamError);
    return null;
  }
}
