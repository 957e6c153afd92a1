/** The items of a Realtime conversation: messages, calls of functions and what came of them. */
import { isObject, type Json } from '../../../protocols/json.ts';

/** A piece of a message. */
export type Content =
  | { readonly type: 'input_text' | 'output_text' | 'text'; readonly text: string }
  | { readonly type: 'input_audio' | 'output_audio' | 'audio'; readonly transcript: string | null };

/** What all items have. `id` is unique in a session. */
interface Identified {
  readonly id: string;
  readonly status: 'in_progress' | 'completed' | 'incomplete';
}

/** Something that was said or written. */
export interface MessageItem extends Identified {
  readonly type: 'message';
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: readonly Content[];
}

/** The model asks the client to call a function; `args` is JSON as the model wrote it. */
export interface FunctionCallItem extends Identified {
  readonly type: 'function_call';
  readonly name: string;
  readonly callId: string;
  readonly args: string;
}

/** What the client's function answered. */
export interface FunctionOutputItem extends Identified {
  readonly type: 'function_call_output';
  readonly callId: string;
  readonly output: string;
}

export type Item = MessageItem | FunctionCallItem | FunctionOutputItem;

const ID = /^[!-~]{1,128}$/;
const CONTENT_MAX = 64;
const NAME_MAX_CHARS = 256;
const ROLES = ['user', 'assistant', 'system'] as const;
const TEXT_TYPES = ['input_text', 'output_text', 'text'] as const;
const AUDIO_TYPES = ['input_audio', 'output_audio', 'audio'] as const;

/** Whether `value` can be the id of an item. */
export function isItemId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

/**
 * The item of `conversation.item.create`; null = it is none that we know. `newId` is its id unless it names one. Sound
 * in it is passed over: its transcript stands for it.
 */
export function readItem(value: unknown, newId: string): Item | null {
  if (!isObject(value)) return null;
  const id = isItemId(value['id']) ? value['id'] : newId;
  const { type = 'message' } = value;
  if (type === 'message') return readMessage(value, id);
  const { call_id: callId, name, arguments: args = '', output = '' } = value;
  if (!isItemId(callId)) return null;
  if (type === 'function_call' && typeof name === 'string' && name.length <= NAME_MAX_CHARS && typeof args === 'string')
    return { type, id, status: 'completed', name, callId, args };
  if (type !== 'function_call_output') return null;
  return { type, id, status: 'completed', callId, output: typeof output === 'string' ? output : '' };
}

function readMessage(value: Json, id: string): MessageItem | null {
  const role = ROLES.find((each) => each === value['role']);
  if (role === undefined) return null;
  const content = Array.isArray(value['content']) ? value['content'].slice(0, CONTENT_MAX).flatMap(readContent) : [];
  return { type: 'message', id, status: 'completed', role, content };
}

function readContent(value: unknown): Content[] {
  if (!isObject(value)) return [];
  const { type, text, transcript } = value;
  const textType = TEXT_TYPES.find((each) => each === type);
  if (textType !== undefined) return typeof text === 'string' ? [{ type: textType, text }] : [];
  const audioType = AUDIO_TYPES.find((each) => each === type);
  if (audioType === undefined) return [];
  return [{ type: audioType, transcript: typeof transcript === 'string' ? transcript : null }];
}

/** As it is sent. */
export function writeItem(item: Item): Json {
  const { id, type, status } = item;
  const head = { id, object: 'realtime.item', type, status };
  if (item.type === 'message') return { ...head, role: item.role, content: item.content };
  if (item.type === 'function_call') return { ...head, call_id: item.callId, name: item.name, arguments: item.args };
  return { ...head, call_id: item.callId, output: item.output };
}

/** All that is said or written in a message. */
export function textOf(item: MessageItem): string {
  const parts = item.content.map((part) => ('text' in part ? part.text : (part.transcript ?? '')));
  return parts.filter((part) => part !== '').join(' ');
}

/** Items that are remembered; clients ask for the latest ones again. */
export const ITEMS_KEPT = 64;
/** Text that is remembered of all items together. */
const CHARS_KEPT = 1_048_576;

/** The latest items of a session, in their order. */
export class Conversation {
  readonly #items = new Map<string, Item>();
  #lastId: string | null = null;
  #chars = 0;

  /** In order. */
  get items(): readonly Item[] {
    return [...this.#items.values()];
  }

  /** The id of the item that was added last; null = none was. */
  get lastId(): string | null {
    return this.#lastId;
  }

  get(id: string): Item | undefined {
    return this.#items.get(id);
  }

  /** Adds an item at the end and returns the id of the one before it; the oldest ones are forgotten. */
  add(item: Item): string | null {
    const previousId = this.#lastId;
    this.delete(item.id);
    this.#items.set(item.id, item);
    this.#chars += charsOf(item);
    this.#lastId = item.id;
    this.#forgetOld();
    return previousId;
  }

  /** Puts `item` in the place of the one with its id, if that is still remembered. */
  replace(item: Item): void {
    const before = this.#items.get(item.id);
    if (before === undefined) return;
    this.#chars += charsOf(item) - charsOf(before);
    this.#items.set(item.id, item);
    this.#forgetOld();
  }

  /** Whether there was such an item. */
  delete(id: string): boolean {
    const item = this.#items.get(id);
    if (item === undefined) return false;
    this.#chars -= charsOf(item);
    return this.#items.delete(id);
  }

  #forgetOld(): void {
    for (const id of this.#items.keys()) {
      if (this.#items.size <= ITEMS_KEPT && (this.#chars <= CHARS_KEPT || this.#items.size === 1)) return;
      this.delete(id);
    }
  }
}

function charsOf(item: Item): number {
  if (item.type === 'message') return textOf(item).length;
  return item.type === 'function_call' ? item.args.length : item.output.length;
}
