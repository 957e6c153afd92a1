import { describe, expect, it } from 'vitest';
import { BlockWalk } from '../../../src/records/search/search-blocks.ts';

/** The blocks of a walk from `endSeq` down whose slices take `tookMs` each. */
function blocksOf(endSeq: number, tookMs: (calls: number, slice: number) => number): string[] {
  const walk = new BlockWalk(endSeq, 'sqlite');
  const names: string[] = [];
  while (walk.endSeq > 0 && names.length < 1000) {
    const { name, firstSeq, endSeq: end } = walk.block;
    names.push(name);
    walk.advance(firstSeq, tookMs(end - firstSeq, names.length));
  }
  return names;
}

describe('the walk of a search', () => {
  it('is over all blocks of 512 calls, then over larger ones where they begin', () => {
    const names = blocksOf(100_000, () => 1);
    expect(names.slice(0, 4)).toEqual(['b195', 'b194', 'b193', 'b192']);
    expect(names.slice(4)).toEqual(['c23', 'c22', 'c21', 'c20', 'c19', 'c18', 'c17', 'c16', 'd1', 'd0']);
  });

  it('stays where larger slices would be slow', () => {
    const names = blocksOf(50_000, (calls) => calls / 400);
    expect(new Set(names.map((name) => name[0]))).toEqual(new Set(['b', 'c']));
  });

  it('takes smaller ones only when several slices in a row are slow', () => {
    expect(blocksOf(5000, (_calls, slice) => (slice % 3 === 0 ? 100 : 6)).every((name) => name[0] === 'b')).toBe(true);
    const slow = blocksOf(30_000, (calls) => (calls > 512 ? 100 : 2));
    expect(slow.slice(0, 8)).toEqual(['b58', 'b57', 'b56', 'c6', 'c5', 'c4', 'c3', 'b23']);
    expect(blocksOf(5000, () => 100).every((name) => name[0] === 'b')).toBe(true);
  });

  it('is over larger and larger blocks in PostgreSQL, however slow, and begins anew where words are frequent', () => {
    const walk = new BlockWalk(3_000_000, 'postgres');
    const calls: number[] = [];
    for (; walk.endSeq > 0; walk.advance(walk.block.firstSeq, 100)) calls.push(walk.endSeq - walk.block.firstSeq);
    expect(calls).toHaveLength(4);
    const dense = new BlockWalk(3_000_000, 'postgres');
    dense.advance(dense.block.firstSeq, 1);
    const { firstSeq } = dense.block;
    dense.advance(firstSeq + 100, 1);
    expect(dense.block.endSeq - dense.block.firstSeq).toBe(2 ** 15);
  });
});
