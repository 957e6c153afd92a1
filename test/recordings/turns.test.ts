import { describe, expect, it } from 'vitest';
import { Turns } from '../../src/recordings/turns.ts';
import { settle } from '../fakes/clock.ts';

const never = new AbortController().signal;

/** Work that is begun when it is its turn and goes on until it is told. */
class Works {
  readonly begun: string[] = [];
  readonly #turns = new Turns(2);
  readonly #ends = new Map<string, () => void>();

  /** `name` begins with the tenant's letter. */
  ask(name: string, signal = never): Promise<void> {
    return this.#turns.take(name.charAt(0), signal, () => {
      this.begun.push(name);
      return new Promise((resolve) => this.#ends.set(name, resolve));
    });
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await settle();
  }
}

describe('turns', () => {
  it('go to the tenant for whom the least is being done, then to who came first', async () => {
    const works = new Works();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) void works.ask(name);
    await settle();
    expect(works.begun).toEqual(['a1', 'a2']);
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) await works.end(name);
    expect(works.begun).toEqual(['a1', 'a2', 'b1', 'a3', 'c1', 'b2', 'a4']);
  });

  it('are given up by those who go away, and passed on by those who fail', async () => {
    const works = new Works();
    const turns = new Turns(1);
    const leaving = new AbortController();
    for (const name of ['a1', 'a2']) void works.ask(name);
    const left = expect(works.ask('a3', leaving.signal)).rejects.toThrow('gone');
    leaving.abort(new Error('gone'));
    await left;
    await expect(works.ask('a4', leaving.signal)).rejects.toThrow('gone');
    await works.end('a1');
    expect(works.begun).toEqual(['a1', 'a2']);
    await expect(turns.take('a', never, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await turns.take('a', never, async () => 'next')).toBe('next');
  });
});
