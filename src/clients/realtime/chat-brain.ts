/** A chat endpoint as the brain of a Realtime session: it gets the conversation, and its tools are the client's. */
import type { ChatEndpoint } from '../../foundation/chat-endpoint.ts';
import { type ChatDelta, ChatStreamError, streamChat } from '../../foundation/chat-stream.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Brain, BrainEvents, Question } from './brain.ts';
import { chatMessages, chatToolChoice, chatTools } from './wire/chat-messages.ts';

/** Most calls of functions in one answer: as many as there may be functions. */
const CALLS_MAX = 128;

interface ChatBrainOptions {
  readonly endpoint: ChatEndpoint;
  readonly clock: Clock;
  readonly newCallId: () => string;
  readonly events: BrainEvents;
}

/** See above. */
export class ChatBrain implements Brain {
  readonly #options: ChatBrainOptions;
  #asked = new AbortController();

  constructor(options: ChatBrainOptions) {
    this.#options = options;
  }

  begin(): void {
    // It answers, and does not begin.
  }

  ask(question: Question): void {
    this.cancel();
    this.#asked = new AbortController();
    void this.#answer(question, this.#asked.signal);
  }

  cancel(): boolean {
    this.#asked.abort();
    return true;
  }

  heard(): void {
    // The conversation that it gets next has what was heard.
  }

  close(): void {
    this.cancel();
  }

  /** Never rejects. */
  async #answer({ items, output }: Question, signal: AbortSignal): Promise<void> {
    const { endpoint, clock, events } = this.#options;
    const request = {
      messages: chatMessages(output.instructions, items),
      tools: chatTools(output.tools),
      toolChoice: chatToolChoice(output),
      maxTokens: output.maxOutputTokens,
    };
    try {
      let call: number | null = null;
      let calls = 0;
      for await (const delta of streamChat(endpoint, request, { clock, signal })) {
        if (signal.aborted) return;
        const next = this.#tell(delta, call);
        if (next !== call) calls++;
        if (calls > CALLS_MAX) throw new ChatStreamError(`the endpoint asked for more than ${CALLS_MAX} calls`);
        call = next;
      }
      if (!signal.aborted) events.onDone();
    } catch (error) {
      if (signal.aborted) return;
      events.onFailed(error instanceof ChatStreamError ? error.message : 'the answer failed', null);
    }
  }

  /** @returns the number of the call that is open */
  #tell(delta: ChatDelta, open: number | null): number | null {
    const { events, newCallId } = this.#options;
    if (delta.type === 'text') {
      events.onText(delta.text);
      return open;
    }
    if (delta.index !== open) events.onCall(delta.name, delta.id || newCallId());
    if (delta.args !== '') events.onArguments(delta.args);
    return delta.index;
  }
}
