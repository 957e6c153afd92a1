import { expect, it } from 'vitest';
import { chatMessages } from '../../../../src/clients/realtime/wire/chat-messages.ts';
import type { Item } from '../../../../src/clients/realtime/wire/items.ts';

const said = (id: string, text: string): Item => ({
  type: 'message',
  id,
  status: 'completed',
  role: 'user',
  content: [{ type: 'input_text', text }],
});
const call = (callId: string): Item => ({
  type: 'function_call',
  id: `item_${callId}`,
  status: 'completed',
  name: 'weather',
  callId,
  args: '{}',
});
const output = (callId: string): Item => ({
  type: 'function_call_output',
  id: `output_${callId}`,
  status: 'completed',
  callId,
  output: `of ${callId}`,
});

/** In short: who says what, and which calls are made and answered. */
function shortOf(items: readonly Item[]): unknown[] {
  return chatMessages('Be brief.', items).map((message) => {
    const calls = message['tool_calls'] as readonly { readonly id: string }[] | undefined;
    if (calls !== undefined) return calls.map(({ id }) => id);
    return message['role'] === 'tool' ? [message['tool_call_id'], message['content']] : message['content'];
  });
}

it('has calls that were made together in one message, with their answers behind it', () => {
  expect(shortOf([said('1', 'Hi.'), call('a'), call('b'), output('a'), output('b'), call('c'), output('c')])).toEqual([
    'Be brief.',
    'Hi.',
    ['a', 'b'],
    ['a', 'of a'],
    ['b', 'of b'],
    ['c'],
    ['c', 'of c'],
  ]);
});

it('has the answer of a call behind it where the user spoke in between', () => {
  expect(shortOf([call('a'), said('1', 'Well?'), output('a')])).toEqual(['Be brief.', ['a'], ['a', 'of a'], 'Well?']);
});

it('leaves out a call that has no answer yet, and an answer to none', () => {
  expect(shortOf([call('a'), said('1', 'Well?'), output('z'), said('2', '')])).toEqual(['Be brief.', 'Well?']);
});
