import { describe, expect, it } from 'vitest';
import { LateText } from '../../../src/calls/app/late-text.ts';

const token = (last = false) => ({ type: 'text' as const, token: 'word', last });

function interrupted(): LateText {
  const late = new LateText();
  late.onInterrupted();
  return late;
}

describe('text after an interruption', () => {
  it('is welcome when nothing was interrupted', () => {
    expect(new LateText().isLate(token())).toBe(false);
  });

  it('is late until the last of its cycle, which is late itself', () => {
    const late = interrupted();
    expect([late.isLate(token()), late.isLate(token(true)), late.isLate(token())]).toEqual([true, true, false]);
  });

  it('stays late when the app has read of the interruption but was told nothing new', () => {
    const late = interrupted();
    late.onFence();
    expect(late.isLate(token())).toBe(true);
  });

  it('answers a prompt or a key once the app has read of the interruption, not before', () => {
    const late = interrupted();
    late.onAnswerable();
    expect(late.isLate(token())).toBe(true);
    late.onFence();
    expect(late.isLate(token())).toBe(false);
  });

  it('answers a prompt or a key that comes later', () => {
    const late = interrupted();
    late.onFence();
    late.onAnswerable();
    expect(late.isLate(token())).toBe(false);
  });

  it('does not answer what was told before another interruption', () => {
    const late = interrupted();
    late.onAnswerable();
    late.onInterrupted();
    late.onFence();
    expect(late.isLate(token())).toBe(true);
  });

  it('is not waited for on a new connection', () => {
    const late = interrupted();
    late.forget();
    late.onFence();
    expect(late.isLate(token())).toBe(false);
  });
});
