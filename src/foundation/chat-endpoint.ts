/** Asks a chat endpoint with OpenAI's API: https://platform.openai.com/docs/api-reference/chat/create */
import { z } from 'zod';
import { readBoundedText } from './bounded-body.ts';
import type { Clock } from './clock.ts';

/** Where it is, and how long one answer may take. */
export interface ChatEndpoint {
  /** `…/v1`, without a slash at its end. */
  readonly baseUrl: string;
  /** Empty = none. */
  readonly apiKey: string;
  readonly model: string;
  readonly timeoutMs: number;
}

/** One message of the conversation that it continues. */
export interface ChatMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

/**
 * What the model wrote, or why there is nothing: `late`, `failed` (the endpoint), `unusable` (its answer). `complaint`
 * says it for people, without anything that was sent or answered.
 */
export type ChatAnswer =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly failure: 'late' | 'failed' | 'unusable'; readonly complaint: string };

interface AskOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Longer answers are unusable. */
  readonly answerMaxBytes: number;
}

const answerSchema = z.object({ choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1) });

/** Asks the endpoint's model for a completion with the fields of `body`. @throws what fetch throws */
export function postChat(
  { baseUrl, apiKey, model }: ChatEndpoint,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({ model, ...body }),
    redirect: 'error',
    signal,
  });
}

/** One answer to `messages`, of a model that is to be as predictable as it can. @throws the reason of `signal` */
export async function askChat(
  endpoint: ChatEndpoint,
  messages: readonly ChatMessage[],
  { clock, signal, answerMaxBytes }: AskOptions,
): Promise<ChatAnswer> {
  const { timeoutMs } = endpoint;
  const late = new AbortController();
  const timer = clock.after(timeoutMs, () => late.abort());
  try {
    const either = AbortSignal.any([signal, late.signal]);
    const response = await postChat(endpoint, { temperature: 0, messages }, either);
    if (response.ok) return readAnswer((await readBoundedText(response, answerMaxBytes)) ?? '');
    await response.body?.cancel();
    return { ok: false, failure: 'failed', complaint: `the endpoint answered ${response.status}` };
  } catch {
    signal.throwIfAborted();
    return late.signal.aborted
      ? { ok: false, failure: 'late', complaint: `the endpoint took longer than ${timeoutMs} ms` }
      : { ok: false, failure: 'failed', complaint: 'the endpoint could not be reached' };
  } finally {
    timer.cancel();
  }
}

function readAnswer(text: string): ChatAnswer {
  const parsed = answerSchema.safeParse(parseJson(text));
  if (parsed.success) return { ok: true, content: parsed.data.choices[0]?.message.content ?? '' };
  return { ok: false, failure: 'unusable', complaint: 'the endpoint did not answer as a chat endpoint does' };
}

/** The value of `text`; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
