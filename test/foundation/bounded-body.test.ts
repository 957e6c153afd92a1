import { describe, expect, it } from 'vitest';
import { readBounded, readBoundedText } from '../../src/foundation/bounded-body.ts';

async function* chunksOf(...lengths: number[]): AsyncGenerator<Uint8Array> {
  for (const length of lengths) yield new Uint8Array(length).fill(length);
}

describe('readBounded', () => {
  it('puts all chunks into one piece', async () => {
    expect(await readBounded(chunksOf(1, 2), 3)).toEqual(Uint8Array.of(1, 2, 2));
  });

  it('stops as soon as there is too much', async () => {
    let asked = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        asked++;
        yield new Uint8Array(2);
      }
    }
    expect(await readBounded(endless(), 5)).toBeNull();
    expect(asked).toBe(3);
  });
});

describe('readBoundedText', () => {
  it('reads UTF-8, and nothing as an empty text', async () => {
    expect(await readBoundedText(new Response('größer'), 8)).toBe('größer');
    expect(await readBoundedText(new Response(null), 8)).toBe('');
  });

  it('is null beyond the limit', async () => {
    expect(await readBoundedText(new Response('größer'), 7)).toBeNull();
  });
});
