/** A Realtime conversation as the messages of a chat endpoint. */
import type { Json } from '../../../protocols/json.ts';
import { type FunctionCallItem, type Item, textOf } from './items.ts';
import type { OutputConfig, Tool } from './output-config.ts';

/**
 * The messages that an answer to `items` is asked for with. What has no words yet is left out. The answers of functions
 * stand behind their calls, and a call that has none is left out: endpoints refuse a call whose answer does not follow,
 * and the user may speak meanwhile.
 */
export function chatMessages(instructions: string, items: readonly Item[]): Json[] {
  const messages: Json[] = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  const outputs = new Map<string, string>();
  for (const item of items) if (item.type === 'function_call_output') outputs.set(item.callId, item.output);
  let together: FunctionCallItem[] = [];
  for (const item of items) {
    if (item.type === 'function_call') {
      if (outputs.has(item.callId)) together.push(item);
      continue;
    }
    messages.push(...callMessages(together, outputs));
    together = [];
    const content = item.type === 'message' ? textOf(item) : '';
    if (item.type === 'message' && content !== '') messages.push({ role: item.role, content });
  }
  return [...messages, ...callMessages(together, outputs)];
}

/** Calls that were made together are one message. */
function callMessages(calls: readonly FunctionCallItem[], outputs: ReadonlyMap<string, string>): Json[] {
  if (calls.length === 0) return [];
  const asked = calls.map(({ callId, name, args }) => ({
    id: callId,
    type: 'function',
    function: { name, arguments: args },
  }));
  const answers = calls.map(({ callId }) => ({ role: 'tool', tool_call_id: callId, content: outputs.get(callId) }));
  return [{ role: 'assistant', content: null, tool_calls: asked }, ...answers];
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
