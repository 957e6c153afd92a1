import { describe, expect, it } from 'vitest';
import { EndedCalls } from '../../src/calls/ended-calls.ts';
import type { FinalCaption } from '../../src/calls/feed/transcript.ts';

const FINAL: FinalCaption = { kind: 'caption', track: 'inbound', utterance: 1, text: 'Hello.', startMs: 0, endMs: 500 };
const finals = (count: number) => Array.from({ length: count }, () => FINAL);

interface Kept {
  readonly name: string;
  readonly transcript: readonly FinalCaption[];
}

const namesIn = (endedCalls: EndedCalls<Kept>) => endedCalls.list().map(({ name }) => name);
const kept = (name: string, finalCount = 0): Kept => ({ name, transcript: finals(finalCount) });

describe('EndedCalls', () => {
  it('keeps the latest calls and shows the newest first', () => {
    const endedCalls = new EndedCalls<Kept>({ callsMax: 2 });
    for (const id of ['a', 'b', 'c']) endedCalls.add(id, kept(id, 1));
    expect(namesIn(endedCalls)).toEqual(['c', 'b']);
    expect(endedCalls.get('a')).toBeUndefined();
    expect(endedCalls.get('b')).toEqual({ name: 'b', transcript: [FINAL] });
  });

  it('keeps nothing where nothing is to be kept', () => {
    const endedCalls = new EndedCalls<Kept>({ callsMax: 0 });
    endedCalls.add('a', kept('a'));
    expect(namesIn(endedCalls)).toEqual([]);
  });

  it('replaces a call of the same id, and lets one go', () => {
    const endedCalls = new EndedCalls<Kept>({ callsMax: 2 });
    for (const [id, name] of [
      ['a', 'a1'],
      ['b', 'b'],
      ['a', 'a2'],
    ] as const) {
      endedCalls.add(id, kept(name));
    }
    expect(namesIn(endedCalls)).toEqual(['a2', 'b']);
    endedCalls.remove('a');
    endedCalls.remove('unknown');
    expect(namesIn(endedCalls)).toEqual(['b']);
  });

  it('lets the oldest calls go when all together have more than 50 000 finals', () => {
    const endedCalls = new EndedCalls<Kept>({ callsMax: 100 });
    for (const id of ['a', 'b', 'c', 'd']) endedCalls.add(id, kept(id, 20_000));
    expect(namesIn(endedCalls)).toEqual(['d', 'c']);
    endedCalls.add('c', kept('c again', 10_000));
    endedCalls.add('e', kept('e', 20_000));
    expect(namesIn(endedCalls)).toEqual(['e', 'c again', 'd']);
  });
});
