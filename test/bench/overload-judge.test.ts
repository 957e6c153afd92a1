import { describe, expect, it } from 'vitest';
import { missingWords } from './overload-judge.ts';

const final = { startMs: 1000, endMs: 5000, words: 8 };

describe('the words that are missing', () => {
  it('are none where finals and gaps cover all of it, whatever their order and edges', () => {
    const told = [
      { startMs: 3100, endMs: 4900 },
      { startMs: 1100, endMs: 2000 },
      { startMs: 1900, endMs: 3000 },
    ];
    expect(missingWords([final], told, 10_000)).toBe(0);
  });

  it('are those of the time that nothing covers', () => {
    expect(missingWords([final], [{ startMs: 900, endMs: 3000 }], 10_000)).toBe(4);
    expect(missingWords([final, { ...final, startMs: 6000, endMs: 7000 }], [], 10_000)).toBe(16);
  });

  it('are not asked for where the call had ended', () => {
    expect(missingWords([final], [], 4900)).toBe(0);
  });
});
