import { describe, expect, it } from 'vitest';
import { PinnedLru } from '../../src/speech/pinned-lru.ts';

function lruOf(maxBytes: number): { lru: PinnedLru<number>; gone: string[] } {
  const gone: string[] = [];
  return { lru: new PinnedLru({ maxBytes, bytesOf: (bytes) => bytes, onGone: (name) => gone.push(name) }), gone };
}

describe('a cache with pinned names', () => {
  it('pushes out what was used longest ago, and nothing that is pinned', () => {
    const { lru, gone } = lruOf(4);
    for (const name of ['greeting', 'a', 'b', 'c']) lru.set(name, 1);
    lru.pin((name) => name === 'greeting');
    lru.get('a');
    for (const name of ['d', 'e', 'f', 'g']) lru.set(name, 1);
    expect(gone).toEqual(['b', 'c', 'a', 'd']);
    expect(lru.names()).toEqual(['greeting', 'e', 'f', 'g']);
    expect(lru.bytes).toBe(4);
  });

  it('pushes out pinned names where they alone are too many, those used longest ago first', () => {
    const { lru, gone } = lruOf(2);
    lru.pin(() => true);
    for (const name of ['a', 'b', 'c']) lru.set(name, 1);
    expect(gone).toEqual(['a']);
    expect(lru.bytes).toBe(2);
  });

  it('keeps nothing else where the pinned names leave no room, and tells when they alone are too many', () => {
    let told = 0;
    const lru = new PinnedLru<number>({ maxBytes: 3, bytesOf: (bytes) => bytes, onTooManyPinned: () => told++ });
    lru.pin((name) => name !== 'other');
    for (const name of ['a', 'b', 'c', 'other']) lru.set(name, 1);
    expect([lru.names(), lru.bytes, told]).toEqual([['a', 'b', 'c'], 3, 0]);
    lru.set('other', 4);
    expect(told).toBe(0);
    lru.set('d', 1);
    expect([lru.names(), told]).toEqual([['b', 'c', 'd'], 1]);
    lru.set('e', 4);
    expect([lru.names(), told]).toEqual([['b', 'c', 'd'], 2]);
  });

  it('lets go of names that are pinned no more', () => {
    const { lru, gone } = lruOf(2);
    lru.pin((name) => name === 'a');
    for (const name of ['a', 'b']) lru.set(name, 1);
    lru.pin((name) => name === 'b');
    lru.set('c', 1);
    expect(gone).toEqual(['a']);
  });

  it('counts a value that takes the place of another once, and keeps none that is too large', () => {
    const { lru, gone } = lruOf(3);
    lru.set('a', 1);
    lru.set('a', 2);
    expect([lru.bytes, lru.size, lru.peek('a')]).toEqual([2, 1, 2]);
    expect(gone).toEqual([]);
    lru.set('a', 4);
    expect([lru.bytes, lru.has('a')]).toEqual([0, false]);
    expect(gone).toEqual(['a']);
  });

  it('lists the pinned ones first, then those used last', () => {
    const { lru } = lruOf(10);
    lru.pin((name) => name === 'a');
    for (const name of ['a', 'b', 'c']) lru.set(name, 1);
    expect(lru.latest(2).map(([name]) => name)).toEqual(['a', 'c']);
  });
});
