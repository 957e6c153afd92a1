import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Inbox } from '../../src/listening/inbox.ts';

interface Options {
  readonly messageBytes?: number;
  readonly wholeBytes?: (message: Uint8Array) => number;
}

/** An inbox with slices of ten bytes, and the lengths that were taken from it. */
function open({ messageBytes, wholeBytes }: Options = {}) {
  const taken: (number | string)[] = [];
  const state = { isFull: false, failures: 0 };
  const inbox = new Inbox({
    sliceBytes: 10,
    messageBytes,
    wholeBytes,
    mayTake: (message) => !(message instanceof Uint8Array && state.isFull),
    take: (message) => {
      if (message instanceof Uint8Array) taken.push(message.length);
      else message.run();
    },
    onFailure: () => state.failures++,
    onRun: () => undefined,
  });
  const step = () => inbox.push({ isReady: () => true, run: () => taken.push('step') });
  return { inbox, taken, state, step };
}

describe('the queue of a listening session', () => {
  it('cuts a long message, and lets other work run between its slices', async () => {
    const { inbox, taken, step } = open();
    inbox.push(new Uint8Array(25));
    step();
    expect(taken).toEqual([10]);
    await nextTurn();
    expect(taken).toEqual([10, 10]);
    await nextTurn();
    expect(taken).toEqual([10, 10, 5, 'step']);
    expect(inbox.isEmpty).toBe(true);
  });

  it('takes no further slice of a message while there is no room', async () => {
    const { inbox, taken, state } = open();
    inbox.push(new Uint8Array(25));
    state.isFull = true;
    await nextTurn();
    expect(taken).toEqual([10]);
    expect(inbox.isEmpty).toBe(false);
    state.isFull = false;
    inbox.run();
    expect(taken).toEqual([10, 10]);
  });

  it('counts short messages together where they are slow, and only there', async () => {
    const slow = open({ messageBytes: 1 });
    const quick = open();
    for (const { inbox } of [slow, quick]) for (let message = 0; message < 4; message++) inbox.push(new Uint8Array(6));
    expect(quick.taken).toEqual([6, 6, 6, 6]);
    expect(slow.taken).toEqual([6, 3]);
    await nextTurn();
    expect(slow.taken).toEqual([6, 3, 3, 6]);
  });

  it('never cuts messages that must come whole, and counts what they stand for', async () => {
    const { inbox, taken } = open({ messageBytes: 1, wholeBytes: ({ length }) => 4 * length });
    for (const length of [1, 1, 7, 1]) inbox.push(new Uint8Array(length));
    expect(taken).toEqual([1, 1]);
    await nextTurn();
    expect(taken).toEqual([1, 1, 7]);
    await nextTurn();
    expect(taken).toEqual([1, 1, 7, 1]);
  });

  it('takes nothing more once it is closed, not even what was begun', async () => {
    const { inbox, taken } = open();
    inbox.push(new Uint8Array(25));
    inbox.close();
    inbox.push(new Uint8Array(1));
    await nextTurn();
    expect(taken).toEqual([10]);
  });
});
