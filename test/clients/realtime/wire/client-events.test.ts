import { describe, expect, it } from 'vitest';
import { readClientEvent } from '../../../../src/clients/realtime/wire/client-events.ts';
import { Conversation, ITEMS_KEPT, readItem, writeItem } from '../../../../src/clients/realtime/wire/items.ts';

const read = (event: unknown) => readClientEvent(JSON.stringify(event));

describe('an event of a Realtime client', () => {
  it('is sound in base64', () => {
    expect(read({ type: 'input_audio_buffer.append', audio: 'AAECAw==' })).toEqual({
      type: 'append',
      audio: Buffer.from([0, 1, 2, 3]),
    });
  });

  it('is refused with its own id when its sound cannot be read, and repeats nothing of it', () => {
    const event = read({
      type: 'input_audio_buffer.append',
      event_id: 'mine',
      audio: 'secret words, no base64 at all',
    });
    expect(event).toMatchObject({ type: 'invalid', eventId: 'mine', code: 'invalid_value', param: 'audio' });
    expect(JSON.stringify(event)).not.toContain('secret');
  });

  it('is passed over when it is of a newer API, or names no item', () => {
    expect(read({ type: 'session.rewind' })).toEqual({ type: 'ignored', what: 'session.rewind' });
    expect(read({ type: '__proto__' })).toEqual({ type: 'ignored', what: '__proto__' });
    expect(read({ type: 'conversation.item.retrieve' })).toMatchObject({ type: 'ignored' });
    expect(read({ type: 'conversation.item.truncate', item_id: 'a', audio_end_ms: -1 })).toMatchObject({
      type: 'ignored',
    });
  });

  it('makes a transcription session of the update of a beta client', () => {
    expect(read({ type: 'transcription_session.update', session: { input_audio_format: 'pcm16' } })).toEqual({
      type: 'session.update',
      session: { input_audio_format: 'pcm16', type: 'transcription' },
    });
  });

  it.each(['', 'hello', '[]', '5', 'null', '{"type":5}', '{}'])('is invalid as %j', (text) => {
    expect(readClientEvent(text)).toMatchObject({ type: 'invalid', eventId: null });
  });
});

describe('an item of a conversation', () => {
  it('keeps what we know of it', () => {
    const item = readItem(
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'Hi', more: 1 }, { type: 'input_image' }, 'x'],
        color: 'red',
      },
      'item_1',
    );
    expect(item && writeItem(item)).toEqual({
      id: 'item_1',
      object: 'realtime.item',
      type: 'message',
      status: 'completed',
      role: 'user',
      content: [{ type: 'input_text', text: 'Hi' }],
    });
  });

  it('may be what a function answered', () => {
    const item = readItem({ id: 'own', type: 'function_call_output', call_id: 'c1', output: '{"ok":true}' }, 'item_1');
    expect(item && writeItem(item)).toMatchObject({ id: 'own', call_id: 'c1', output: '{"ok":true}' });
    expect(readItem({ type: 'function_call_output' }, 'item_1')).toBeNull();
    expect(readItem({ type: 'mcp_call' }, 'item_1')).toBeNull();
    expect(readItem({ type: 'function_call', call_id: 'c1', name: 'x'.repeat(257) }, 'item_1')).toBeNull();
    expect(readItem({ role: 'robot' }, 'item_1')).toBeNull();
  });
});

describe('a conversation', () => {
  const message = (id: string, text = '') =>
    ({ type: 'message', id, status: 'completed', role: 'user', content: [{ type: 'input_text', text }] }) as const;

  it('remembers its latest items, and which one came before each', () => {
    const conversation = new Conversation();
    const previous = Array.from({ length: ITEMS_KEPT + 3 }, (_, n) => conversation.add(message(`item_${n}`)));
    expect(previous.slice(0, 3)).toEqual([null, 'item_0', 'item_1']);
    expect(conversation.items).toHaveLength(ITEMS_KEPT);
    expect(conversation.get('item_2')).toBeUndefined();
    expect(conversation.get('item_3')).toMatchObject({ id: 'item_3' });
  });

  it('forgets the oldest ones when their texts together are too long', () => {
    const conversation = new Conversation();
    for (const id of ['a', 'b', 'c']) conversation.add(message(id, 'x'.repeat(500_000)));
    expect(conversation.items.map(({ id }) => id)).toEqual(['b', 'c']);
    conversation.replace(message('b'));
    conversation.add(message('d', 'y'.repeat(500_000)));
    expect(conversation.items.map(({ id }) => id)).toEqual(['b', 'c', 'd']);
  });
});
