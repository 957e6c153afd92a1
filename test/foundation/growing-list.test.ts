import { describe, expect, it } from 'vitest';
import { GrowingList } from '../../src/foundation/growing-list.ts';
import { settle } from '../fakes/clock.ts';

function reader(list: GrowingList<number>, signal?: AbortSignal) {
  const got: number[] = [];
  const end = (async () => {
    for await (const item of list.read(signal)) got.push(item);
    return 'ended';
  })().catch((error: unknown) => error);
  return { got, end };
}

describe('a list that grows', () => {
  it('gives each reader all of it, whenever the reader comes', async () => {
    const list = new GrowingList<number>();
    list.push(1);
    const early = reader(list);
    await settle();
    list.push(2);
    list.push(3);
    const late = reader(list);
    await settle();
    list.end();
    expect(await Promise.all([early.end, late.end])).toEqual(['ended', 'ended']);
    const after = reader(list);
    expect(await after.end).toBe('ended');
    expect([early.got, late.got, after.got]).toEqual(Array(3).fill([1, 2, 3]));
  });

  it('throws its failure to each reader, behind the last item', async () => {
    const list = new GrowingList<number>();
    const early = reader(list);
    list.push(1);
    list.fail('broken');
    const late = reader(list);
    expect(await Promise.all([early.end, late.end])).toEqual(['broken', 'broken']);
    expect([early.got, late.got]).toEqual([[1], [1]]);
  });

  it('ends for a reader whose signal aborts, also in the middle of waiting', async () => {
    const list = new GrowingList<number>();
    const gone = new AbortController();
    const [leaves, stays] = [reader(list, gone.signal), reader(list)];
    list.push(1);
    await settle();
    gone.abort();
    expect(await leaves.end).toBe('ended');
    list.push(2);
    list.end();
    await stays.end;
    expect([leaves.got, stays.got]).toEqual([[1], [1, 2]]);
  });
});
