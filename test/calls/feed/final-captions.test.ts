import { describe, expect, it } from 'vitest';
import { FinalCaptions } from '../../../src/calls/feed/final-captions.ts';

const final = (utterance: number, text = 'Hello.') => ({
  kind: 'caption' as const,
  track: 'inbound' as const,
  utterance,
  text,
  startMs: utterance * 1000,
  endMs: utterance * 1000 + 500,
});
const gap = { kind: 'gap', track: 'outbound', startMs: 4000, endMs: 5000, reason: 'overload' } as const;

describe('FinalCaptions', () => {
  it('keeps finals as they came, but for those without words', () => {
    const finals = new FinalCaptions();
    for (const each of [final(1), final(2, ''), final(3)]) finals.add(each);
    expect([finals.kept, finals.dropped]).toEqual([[final(1), final(3)], 0]);
  });

  it('keeps gaps among them', () => {
    const finals = new FinalCaptions();
    finals.add(final(1));
    finals.addGap(gap);
    finals.add(final(2));
    expect(finals.kept).toEqual([final(1), gap, final(2)]);
    expect([finals.captions, finals.gaps]).toEqual([2, 1]);
  });

  it('keep the latest text of each, in its place, and none that proved to be empty', () => {
    const finals = new FinalCaptions();
    for (const each of [final(1), final(2), final(3, '')]) finals.add(each);
    finals.addGap(gap);
    const revised = { ...final(1, 'Hello,'), version: 2 };
    finals.revise(revised);
    finals.revise({ ...final(2, ''), version: 2 });
    finals.revise({ ...final(1, 'Bye.'), track: 'outbound', version: 2 });
    expect(finals.kept).toEqual([revised, gap, { ...final(1, 'Bye.'), track: 'outbound', version: 2 }]);
    expect([finals.captions, finals.gaps]).toEqual([2, 1]);
    finals.revise({ ...final(3, 'There.'), version: 2 });
    expect(finals.kept.at(-1)).toEqual({ ...final(3, 'There.'), version: 2 });
  });

  it('lets the oldest go beyond five thousand, counts them, and says which stretch they leave empty', () => {
    const finals = new FinalCaptions();
    for (let utterance = 1; utterance <= 5002; utterance++) finals.add(final(utterance));
    expect(finals.dropped).toBe(2);
    expect(finals.kept).toHaveLength(5001);
    expect(finals.kept[0]).toEqual({ kind: 'gap', track: 'inbound', startMs: 1000, endMs: 2500, reason: 'limit' });
    expect([finals.kept[1], finals.kept.at(-1)]).toEqual([final(3), final(5002)]);
  });
});
