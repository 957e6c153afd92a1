import { describe, expect, it } from 'vitest';
import { TextStream } from '../../src/speech/text-stream.ts';
import { settle } from '../fakes/clock.ts';

const NEVER = new AbortController().signal;

async function all(stream: TextStream): Promise<string[]> {
  const sentences: string[] = [];
  for (let next = await stream.next(NEVER); next !== null; next = await stream.next(NEVER)) sentences.push(next);
  return sentences;
}

describe('a text as it comes', () => {
  it('gives its sentences as soon as they are certain', async () => {
    const stream = new TextStream();
    stream.write('Hello there. How');
    expect(await stream.next(NEVER)).toBe('Hello there. ');
    const got: (string | null)[] = [];
    void stream.next(NEVER).then((sentence) => got.push(sentence));
    await settle();
    expect(got).toEqual([]);
    stream.write(' are you?');
    stream.end();
    await settle();
    expect(got).toEqual(['How are you?']);
    expect(await stream.next(NEVER)).toBeNull();
    expect(await stream.next(NEVER)).toBeNull();
  });

  it('loses nothing, however it is cut and however long it is', async () => {
    const text = 'One two three. Four five six! '.repeat(500);
    const whole = new TextStream();
    whole.write(text);
    whole.end();
    const sentences = await all(whole);
    expect(sentences.join('')).toBe(text);
    const dealt = new TextStream();
    for (let at = 0; at < text.length; at += 7) dealt.write(text.slice(at, at + 7));
    dealt.end();
    expect(await all(dealt)).toEqual(sentences);
    expect(dealt.text).toBe(text);
  });

  it('takes no more after its end', async () => {
    const stream = new TextStream();
    stream.end();
    stream.write('too late');
    expect(await all(stream)).toEqual([]);
    expect(stream.text).toBe('');
  });

  it('keeps nobody waiting who gives up', async () => {
    const stream = new TextStream();
    const controller = new AbortController();
    const waiting = stream.next(controller.signal);
    controller.abort();
    expect(await waiting).toBeNull();
    stream.write('Goes on for others. Yes.');
    expect(await stream.next(NEVER)).toBe('Goes on for others. ');
    expect(await stream.next(controller.signal)).toBeNull();
  });
});

describe('a text that is cut', () => {
  it.each([
    ['Hello wor', ['Hello '], 'wor'],
    ['Hello. How are y', ['Hello. ', 'How are '], 'y'],
    ['How are you?', ['How are you?'], ''],
    ['How are you? ', ['How are you? '], ''],
    ["It's twenty-fi", ["It's "], 'twenty-fi'],
    ['Yes, 3.1', ['Yes, 3.'], '1'],
    ['Fine \ud83d', ['Fine '], '\ud83d'],
    [`A ${'x'.repeat(80)}`, [`A ${'x'.repeat(80)}`], ''],
  ])('%j ends at its last whole word', async (text, sentences, rest) => {
    for (const isSplit of [false, true]) {
      const stream = new TextStream();
      const got: string[] = [];
      stream.write(text);
      // What the splitter has by then, and what not, makes no difference.
      const reading = isSplit ? all(stream).then((more) => got.push(...more)) : null;
      await settle();
      expect(stream.cut()).toBe(rest);
      await reading;
      if (!isSplit) got.push(...(await all(stream)));
      expect([got, stream.text]).toEqual([sentences, sentences.join('')]);
      stream.write('more');
      expect(await stream.next(NEVER)).toBeNull();
    }
  });

  it.each(['Hel', ' Hel', ''])('%j is not cut: no word of it is whole', async (text) => {
    const stream = new TextStream();
    stream.write(text);
    expect(stream.cut()).toBeNull();
    stream.write('lo.');
    stream.end();
    expect(await all(stream)).toEqual([`${text}lo.`]);
  });

  it('keeps the rest of a word whose beginning was said already', async () => {
    const stream = new TextStream();
    stream.write(`Well. ${'y'.repeat(330)}`);
    expect([await stream.next(NEVER), await stream.next(NEVER)]).toEqual(['Well. ', 'y'.repeat(300)]);
    expect(stream.cut()).toBe('y'.repeat(30));
    expect(await all(stream)).toEqual([]);
  });
});
