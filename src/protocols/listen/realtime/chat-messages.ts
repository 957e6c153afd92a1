/** A Realtime conversation as the messages of a chat endpoint. */
import type { Json } from '../../json.ts';
import { type Item, textOf } from './items.ts';
import type { OutputConfig, Tool } from './output-config.ts';

/** The messages that an answer to `items` is asked for with. What has no words yet is left out. */
export function chatMessages(instructions: string, items: readonly Item[]): Json[] {
  const messages: Json[] = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  const calls = new Set<string>();
  for (const item of items) {
    if (item.type === 'message') {
      const content = textOf(item);
      if (content !== '') messages.push({ role: item.role, content });
    } else if (item.type === 'function_call') {
      calls.add(item.callId);
      addCall(messages, { id: item.callId, type: 'function', function: { name: item.name, arguments: item.args } });
    } else if (calls.has(item.callId)) {
      messages.push({ role: 'tool', tool_call_id: item.callId, content: item.output });
    }
  }
  return messages;
}

/** Calls that were made together are one message: endpoints refuse a call whose answer does not follow. */
function addCall(messages: Json[], call: Json): void {
  const last = messages.at(-1);
  const before = last?.['tool_calls'];
  if (last !== undefined && Array.isArray(before)) {
    messages[messages.length - 1] = { ...last, tool_calls: [...before, call] };
    return;
  }
  messages.push({ role: 'assistant', content: null, tool_calls: [call] });
}

/** The functions of a session, as a chat endpoint takes them. */
export function chatTools(tools: readonly Tool[]): Json[] {
  return tools.map(({ name, description, parametersJson }) => ({
    type: 'function',
    function: { name, description, parameters: JSON.parse(parametersJson) },
  }));
}

/** The choice of a session, as a chat endpoint takes it. */
export function chatToolChoice({ toolChoice }: OutputConfig): unknown {
  return ['auto', 'none', 'required'].includes(toolChoice)
    ? toolChoice
    : { type: 'function', function: { name: toolChoice } };
}
