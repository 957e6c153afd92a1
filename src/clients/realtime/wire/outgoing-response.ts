/**
 * One answer of a Realtime session, as events in the order that clients need: the response, its items, their parts, the
 * text and the sound in pieces, and all of it once more as done.
 */
import type { Json } from '../../../protocols/json.ts';
import { type Conversation, type FunctionCallItem, type Item, type MessageItem, writeItem } from './items.ts';
import { itemEvent, type ServerEvent } from './server-events.ts';

/** How an answer ended. */
export type ResponseStatus = 'completed' | 'cancelled' | 'failed';

/** Why one was cancelled. */
export type CancelReason = 'turn_detected' | 'client_cancelled';

interface OutgoingResponseOptions {
  readonly id: string;
  /** Whether it is spoken; otherwise it is text alone. */
  readonly isSpoken: boolean;
  readonly conversation: Conversation;
  readonly newItemId: () => string;
  readonly send: (event: ServerEvent) => void;
}

/** See above. */
export class OutgoingResponse {
  readonly #options: OutgoingResponseOptions;
  readonly #output: Item[] = [];
  #message: MessageItem | null = null;
  #text = '';
  #call: FunctionCallItem | null = null;
  #hasSound = false;
  #isBegun = false;

  constructor(options: OutgoingResponseOptions) {
    this.#options = options;
  }

  /** The item that is spoken; null = nothing is. */
  get messageId(): string | null {
    return this.#message?.id ?? null;
  }

  /** Whether it has no item yet. */
  get isEmpty(): boolean {
    return this.#output.length === 0;
  }

  /** All text so far. */
  get text(): string {
    return this.#text;
  }

  /** Tells that an answer comes. What follows does so too. */
  begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#options.send({ type: 'response.created', response: this.#response('in_progress', null) });
  }

  addText(delta: string): void {
    const item = this.#openMessage();
    this.#text += delta;
    const type = this.#options.isSpoken ? 'response.output_audio_transcript.delta' : 'response.output_text.delta';
    this.#sendOf(type, item.id, { delta });
  }

  /** Sound of the text, in base64. */
  addSound(base64: string): void {
    const item = this.#openMessage();
    this.#hasSound = true;
    this.#sendOf('response.output_audio.delta', item.id, { delta: base64 });
  }

  /** A call of a function, whose arguments follow. */
  addCall(name: string, callId: string): void {
    this.begin();
    this.#closeCall('completed');
    const { newItemId } = this.#options;
    this.#call = { type: 'function_call', id: newItemId(), status: 'in_progress', name, callId, args: '' };
    this.#openItem(this.#call);
  }

  /** More of the arguments of the latest call. */
  addArguments(delta: string): void {
    if (this.#call === null) return;
    const { id, callId, args } = this.#call;
    this.#call = { ...this.#call, args: args + delta };
    this.#sendOfCall('response.function_call_arguments.delta', id, { call_id: callId, delta });
  }

  /** Ends everything that is open. @param reason of a cancelled one, or what failed */
  end(status: ResponseStatus, reason: string | null = null): void {
    this.begin();
    const itemStatus = status === 'completed' ? 'completed' : 'incomplete';
    this.#closeMessage(itemStatus);
    this.#closeCall(itemStatus);
    this.#options.send({ type: 'response.done', response: this.#response(status, reason) });
  }

  #openMessage(): MessageItem {
    if (this.#message !== null) return this.#message;
    this.begin();
    const id = this.#options.newItemId();
    this.#message = { type: 'message', id, status: 'in_progress', role: 'assistant', content: [] };
    this.#openItem(this.#message);
    this.#sendOf('response.content_part.added', id, { part: this.#part('') });
    return this.#message;
  }

  #openItem(item: Item): void {
    const { id, conversation, send } = this.#options;
    const outputIndex = this.#output.push(item) - 1;
    send({ type: 'response.output_item.added', response_id: id, output_index: outputIndex, item: writeItem(item) });
    send(itemEvent('added', item, conversation.add(item)));
  }

  #closeMessage(status: 'completed' | 'incomplete'): void {
    const message = this.#message;
    if (message === null) return;
    const { isSpoken } = this.#options;
    const { id } = message;
    if (this.#hasSound) this.#sendOf('response.output_audio.done', id, {});
    if (isSpoken) this.#sendOf('response.output_audio_transcript.done', id, { transcript: this.#text });
    else this.#sendOf('response.output_text.done', id, { text: this.#text });
    this.#sendOf('response.content_part.done', id, { part: this.#part(this.#text) });
    this.#closeItem({
      ...message,
      status,
      content: [
        isSpoken ? { type: 'output_audio', transcript: this.#text } : { type: 'output_text', text: this.#text },
      ],
    });
    this.#message = null;
  }

  #closeCall(status: 'completed' | 'incomplete'): void {
    const call = this.#call;
    if (call === null) return;
    const { id, callId, name, args } = call;
    this.#sendOfCall('response.function_call_arguments.done', id, { call_id: callId, name, arguments: args });
    this.#closeItem({ ...call, status });
    this.#call = null;
  }

  #closeItem(item: Item): void {
    const { id, conversation, send } = this.#options;
    const index = this.#output.findIndex((each) => each.id === item.id);
    const previousId = this.#output[index - 1]?.id ?? null;
    this.#output[index] = item;
    conversation.replace(item);
    send({ type: 'response.output_item.done', response_id: id, output_index: index, item: writeItem(item) });
    send(itemEvent('done', item, previousId));
  }

  #part(text: string): Json {
    return this.#options.isSpoken ? { type: 'audio', transcript: text } : { type: 'text', text };
  }

  #sendOf(type: string, itemId: string, fields: Json): void {
    this.#sendOfCall(type, itemId, { content_index: 0, ...fields });
  }

  #sendOfCall(type: string, itemId: string, fields: Json): void {
    const outputIndex = this.#output.findIndex(({ id }) => id === itemId);
    this.#options.send({ type, response_id: this.#options.id, item_id: itemId, output_index: outputIndex, ...fields });
  }

  #response(status: ResponseStatus | 'in_progress', reason: string | null): Json {
    const { id, isSpoken } = this.#options;
    const isOver = status !== 'in_progress';
    return {
      id,
      object: 'realtime.response',
      status,
      status_details: reason === null ? null : detailsOf(status, reason),
      output: isOver ? this.#output.map(writeItem) : [],
      output_modalities: [isSpoken ? 'audio' : 'text'],
      metadata: null,
      usage: isOver ? NO_TOKENS : null,
    };
  }
}

/** Nobody counts tokens here. */
const NO_TOKENS = {
  total_tokens: 0,
  input_tokens: 0,
  output_tokens: 0,
  input_token_details: { text_tokens: 0, audio_tokens: 0, cached_tokens: 0 },
  output_token_details: { text_tokens: 0, audio_tokens: 0 },
};

function detailsOf(status: string, reason: string): Json {
  if (status === 'cancelled') return { type: 'cancelled', reason };
  return { type: status, error: { type: 'server_error', code: 'answer_failed', message: reason } };
}
