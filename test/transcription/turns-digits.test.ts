/** Turns of a live track where digits are expected. */
import { describe, expect, it } from 'vitest';
import type { DigitsExpected } from '../../src/transcription/turn-policy.ts';
import { Listening, near } from './turn-listening.ts';

describe('where digits are expected', () => {
  const NUMBERS: Readonly<Record<string, string>> = {
    w1: 'four one five',
    w2: 'five five five',
    w3: 'oh one two three',
  };

  function dictating(digits: DigitsExpected): Listening {
    const caller = new Listening([]);
    const { engine } = caller.track;
    const { hear } = engine;
    engine.hear = (request) => ({
      text: hear(request)
        .text.toLowerCase()
        .replace(/w\d+|\./gu, (word) => NUMBERS[word] ?? ''),
    });
    caller.digits = digits;
    return caller;
  }

  it.each([true, false])('groups are one turn, with a turn model: %s', async (hasModel) => {
    const caller = dictating({});
    if (!hasModel) caller.track.engine.turnModel = null;
    for (const group of [1, 2, 3]) {
      await caller.say(group);
      await caller.pause(1400);
    }
    expect(caller.turns).toEqual([]);
    await caller.pause(300);
    expect([caller.turns, caller.waitedMs]).toEqual([[[1, 3]], near(1600)]);
  });

  it('the last one ends the turn at once', async () => {
    const caller = dictating({ min: 10, max: 10 });
    for (const group of [1, 2]) {
      await caller.say(group);
      await caller.pause(1400);
    }
    await caller.say(3);
    await caller.pause(260);
    expect([caller.turns, caller.waitedMs]).toEqual([[[1, 3]], near(192)]);
    expect(caller.track.finals.map(({ text }) => text)).toEqual(Object.values(NUMBERS));
  });

  it('the text is waited for that shows whether there are any', async () => {
    const caller = dictating({});
    await caller.pause(100);
    caller.track.engine.transcribeMs = 500;
    await caller.say(1);
    await caller.pause(1000);
    expect([caller.track.finals.length, caller.turns]).toEqual([1, []]);
    await caller.pause(800);
    expect(caller.waitedMs).toEqual(near(1600));
  });

  it('another answer is a turn as always', async () => {
    const caller = dictating({});
    await caller.say(7);
    await caller.pause(600);
    expect([caller.turns, caller.waitedMs]).toEqual([[[1, 1]], near(400)]);
  });
});
