import { describe, expect, it } from 'vitest';
import { Finals } from '../../src/calls/finals.ts';

const final = (utterance: number, text = 'Hello.') => ({ track: 'inbound' as const, utterance, text, startMs: 0, endMs: 500 });

describe('Finals', () => {
  it('keeps finals as they came, but for those without words', () => {
    const finals = new Finals();
    for (const each of [final(1), final(2, ''), final(3)]) finals.add(each);
    expect([finals.kept, finals.dropped]).toEqual([[final(1), final(3)], 0]);
  });

  it('lets the oldest go beyond five thousand and counts them', () => {
    const finals = new Finals();
    for (let utterance = 1; utterance <= 5002; utterance++) finals.add(final(utterance));
    expect([finals.kept.length, finals.kept[0]?.utterance, finals.kept.at(-1)?.utterance, finals.dropped]).toEqual([5000, 3, 5002, 2]);
  });
});
