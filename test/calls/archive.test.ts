import { describe, expect, it } from 'vitest';
import { Archive } from '../../src/calls/archive.ts';
import type { FinalCaption } from '../../src/calls/transcript.ts';

const FINAL: FinalCaption = { track: 'inbound', utterance: 1, text: 'Hello.', startMs: 0, endMs: 500 };
const finals = (count: number) => Array.from({ length: count }, () => FINAL);

describe('Archive', () => {
  it('keeps the latest calls and shows the newest first', () => {
    const archive = new Archive<string>({ callsMax: 2 });
    for (const id of ['a', 'b', 'c']) archive.add(id, { view: id, finals: [FINAL] });
    expect(archive.views()).toEqual(['c', 'b']);
    expect(archive.get('a')).toBeUndefined();
    expect(archive.get('b')).toEqual({ view: 'b', finals: [FINAL] });
  });

  it('keeps nothing where nothing is to be kept', () => {
    const archive = new Archive<string>({ callsMax: 0 });
    archive.add('a', { view: 'a', finals: [] });
    expect(archive.views()).toEqual([]);
  });

  it('replaces a call of the same id', () => {
    const archive = new Archive<string>({ callsMax: 2 });
    for (const [id, view] of [
      ['a', 'a1'],
      ['b', 'b'],
      ['a', 'a2'],
    ] as const) {
      archive.add(id, { view, finals: [] });
    }
    expect(archive.views()).toEqual(['a2', 'b']);
  });

  it('lets the oldest calls go when all together have more than 50 000 finals', () => {
    const archive = new Archive<string>({ callsMax: 100 });
    for (const id of ['a', 'b', 'c', 'd']) archive.add(id, { view: id, finals: finals(20_000) });
    expect(archive.views()).toEqual(['d', 'c']);
    archive.add('c', { view: 'c again', finals: finals(10_000) });
    archive.add('e', { view: 'e', finals: finals(20_000) });
    expect(archive.views()).toEqual(['e', 'c again', 'd']);
  });
});
