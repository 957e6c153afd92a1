import { describe, expect, it } from 'vitest';
import { EndedCalls } from '../../src/calls/ended-calls.ts';
import type { FinalCaption } from '../../src/calls/feed/transcript.ts';

const FINAL: FinalCaption = { kind: 'caption', track: 'inbound', utterance: 1, text: 'Hello.', startMs: 0, endMs: 500 };
const finals = (count: number) => Array.from({ length: count }, () => FINAL);

describe('EndedCalls', () => {
  it('keeps the latest calls and shows the newest first', () => {
    const endedCalls = new EndedCalls<string>({ callsMax: 2 });
    for (const id of ['a', 'b', 'c']) endedCalls.add(id, { view: id, transcript: [FINAL] });
    expect(endedCalls.views()).toEqual(['c', 'b']);
    expect(endedCalls.get('a')).toBeUndefined();
    expect(endedCalls.get('b')).toEqual({ view: 'b', transcript: [FINAL] });
  });

  it('keeps nothing where nothing is to be kept', () => {
    const endedCalls = new EndedCalls<string>({ callsMax: 0 });
    endedCalls.add('a', { view: 'a', transcript: [] });
    expect(endedCalls.views()).toEqual([]);
  });

  it('replaces a call of the same id', () => {
    const endedCalls = new EndedCalls<string>({ callsMax: 2 });
    for (const [id, view] of [
      ['a', 'a1'],
      ['b', 'b'],
      ['a', 'a2'],
    ] as const) {
      endedCalls.add(id, { view, transcript: [] });
    }
    expect(endedCalls.views()).toEqual(['a2', 'b']);
  });

  it('lets the oldest calls go when all together have more than 50 000 finals', () => {
    const endedCalls = new EndedCalls<string>({ callsMax: 100 });
    for (const id of ['a', 'b', 'c', 'd']) endedCalls.add(id, { view: id, transcript: finals(20_000) });
    expect(endedCalls.views()).toEqual(['d', 'c']);
    endedCalls.add('c', { view: 'c again', transcript: finals(10_000) });
    endedCalls.add('e', { view: 'e', transcript: finals(20_000) });
    expect(endedCalls.views()).toEqual(['e', 'c again', 'd']);
  });
});
