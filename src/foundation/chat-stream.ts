/**
 * Asks a chat endpoint and reads its answer while it is written:
 * https://platform.openai.com/docs/api-reference/chat-streaming
 */
import { type ChatEndpoint, parseJson, postChat } from './chat-endpoint.ts';
import type { Clock } from './clock.ts';

/** A piece of an answer: text, or a call of a function, whose arguments are JSON that comes in pieces. */
export type ChatDelta =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'call';
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly args: string;
    };

/** A conversation, as the endpoint takes it. */
export interface ChatRequest {
  readonly messages: readonly object[];
  /** As the endpoint takes them; empty = none. */
  readonly tools: readonly object[];
  readonly toolChoice: unknown;
  /** Null = the endpoint says. */
  readonly maxTokens: number | null;
}

/** The endpoint did not answer, or not as a chat endpoint does. The message repeats nothing of what was said. */
export class ChatStreamError extends Error {}

/** Longest line of an answer, and most characters of all of it. */
const LINE_MAX_CHARS = 262_144;
const ANSWER_MAX_CHARS = 1_048_576;
const CALLS_MAX = 128;

/**
 * Yields the answer to `request` as it comes. Between two pieces no more than the endpoint's time-out may pass.
 * @throws ChatStreamError, or the reason of `signal`
 */
export async function* streamChat(
  endpoint: ChatEndpoint,
  { messages, tools, toolChoice, maxTokens }: ChatRequest,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): AsyncGenerator<ChatDelta, void, undefined> {
  const { timeoutMs } = endpoint;
  const late = new AbortController();
  let timer = clock.after(timeoutMs, () => late.abort());
  try {
    const body = {
      stream: true,
      messages,
      ...(tools.length === 0 ? {} : { tools, tool_choice: toolChoice }),
      ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
    };
    const response = await postChat(endpoint, body, AbortSignal.any([signal, late.signal]));
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new ChatStreamError(`the endpoint answered ${response.status}`);
    }
    const lines = new ChatLines();
    const decoder = new TextDecoder();
    for await (const bytes of response.body) {
      timer.cancel();
      timer = clock.after(timeoutMs, () => late.abort());
      yield* lines.push(decoder.decode(bytes, { stream: true }));
      if (lines.isDone) return;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ChatStreamError) throw error;
    throw new ChatStreamError(
      late.signal.aborted ? `the endpoint took longer than ${timeoutMs} ms` : 'the endpoint could not be reached',
    );
  } finally {
    timer.cancel();
  }
}

/** The pieces in the Server-Sent Events of an answer, however they are cut. */
export class ChatLines {
  #rest = '';
  #chars = 0;
  #isDone = false;

  /** Whether the endpoint said that this was all. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** What is complete with `text`. @throws ChatStreamError when there is more than anybody could say */
  push(text: string): ChatDelta[] {
    this.#chars += text.length;
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LINE_MAX_CHARS || this.#chars > ANSWER_MAX_CHARS)
      throw new ChatStreamError('the endpoint sent more than an answer can have');
    return lines.flatMap((line) => this.#read(line));
  }

  #read(line: string): ChatDelta[] {
    if (!line.startsWith('data:') || this.#isDone) return [];
    const data = line.slice('data:'.length).trim();
    this.#isDone = data === '[DONE]';
    return readDelta(parseJson(data));
  }
}

/** Whatever is no piece of an answer says nothing. */
function readDelta(value: unknown): ChatDelta[] {
  const { choices } = objectOf(value);
  const delta = objectOf(objectOf(Array.isArray(choices) ? choices[0] : undefined)['delta']);
  const { content, tool_calls: calls } = delta;
  const texts: ChatDelta[] = typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
  const asked = Array.isArray(calls) ? calls.slice(0, CALLS_MAX).map(readCall) : [];
  return [...texts, ...asked];
}

function readCall(value: unknown): ChatDelta {
  const { index, id, function: called } = objectOf(value);
  const { name, arguments: args } = objectOf(called);
  return {
    type: 'call',
    index: typeof index === 'number' ? index : 0,
    id: textOf(id),
    name: textOf(name),
    args: textOf(args),
  };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
