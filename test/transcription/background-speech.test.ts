/** A caller with a television behind him: real levels, an engine that hears words. */
import { describe, expect, it } from 'vitest';
import { concat, silence, spoken, written } from '../fakes/engine.ts';
import { TranscriberHarness } from './transcriber-harness.ts';

/** Words of the caller, at about -18 dB of full scale, and of the television at about -38 dB. */
const HELLO = [38, 39, 40, 41];
const MORE = [42, 43, 44, 45];
const TV = [4, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4, 3];

/** Of the television's words the nearest are read with those of the caller: a third of a second on each side. */
const NEAREST = 4;
/** Whether `text` is the caller's words with no more of the television's. */
function isCallers(text: string | undefined, words: readonly number[]): boolean {
  const read = (text ?? '').toLowerCase().replace('.', '').split(' ');
  const own = read.filter((word) => word.length === 3);
  return own.join(' ') === words.map((n) => `w${n}`).join(' ') && read.length - own.length <= NEAREST;
}

const watched = (): TranscriberHarness => new TranscriberHarness({ marksBackground: true });
const callers = ({ finals }: TranscriberHarness): string[] =>
  finals.flatMap(({ background, text }) => (background ? [] : [text]));
const others = ({ finals }: TranscriberHarness): string[] =>
  finals.flatMap(({ background, text }) => (background ? [text] : []));

describe('speech behind the caller', () => {
  it('does not keep the utterance open, and is captioned as background', async () => {
    const harness = watched();
    await harness.say(concat(spoken(HELLO), spoken(TV), silence(1000)));
    expect(callers(harness).map((text) => isCallers(text, HELLO))).toEqual([true]);
    expect(others(harness).join(' ')).toContain('w4');
    const stopped = harness.events.findIndex(({ type }) => type === 'speech.stopped');
    // The words last a second, the endpoint 400 ms; a voice is known to be far within half a second.
    expect(harness.emittedAtMs[stopped]).toBeLessThanOrEqual(1900);
  });

  it('keeps the utterance open where nobody tells it apart', async () => {
    const harness = new TranscriberHarness();
    await harness.say(concat(spoken(HELLO), spoken(TV)));
    expect(harness.finals).toEqual([]);
  });

  it('begins nothing, and the caller who speaks into it is heard whole', async () => {
    const harness = watched();
    await harness.say(concat(spoken(HELLO), silence(800), spoken(TV), spoken(MORE), silence(800)));
    const [hello, more, ...rest] = callers(harness);
    expect([isCallers(hello, HELLO), isCallers(more, MORE), rest]).toEqual([true, true, []]);
    expect(harness.events.filter(({ type }) => type === 'speech.started')).toHaveLength(2);
    expect(others(harness)).toHaveLength(1);
  });

  it('has no partial captions', async () => {
    const harness = watched();
    await harness.say(concat(spoken(HELLO), silence(800), spoken(TV), silence(800)));
    expect(harness.partials.every(({ utterance }) => utterance === 1)).toBe(true);
  });

  it('is told apart also when it was heard first', async () => {
    const harness = watched();
    await harness.say(concat(spoken(TV), spoken(HELLO), spoken(TV), silence(800)));
    expect(callers(harness).map((text) => isCallers(text, HELLO))).toEqual([true]);
    expect(others(harness).length).toBeGreaterThanOrEqual(2);
    const starts = harness.events.filter(({ type }) => type === 'speech.started');
    expect(starts).toMatchObject([{ isUnsure: true }, {}]);
    expect(starts[1]).not.toHaveProperty('isUnsure');
  });

  it('is the caller when nobody louder speaks: all is heard, in order', async () => {
    const harness = watched();
    await harness.say(concat(spoken([4, 3, 4]), silence(800), spoken([3, 4, 3]), silence(800)));
    expect(callers(harness)).toEqual([written([4, 3, 4]), written([3, 4, 3])]);
  });

  it('is cut where it is too long, as all speech is', async () => {
    const harness = new TranscriberHarness({ marksBackground: true, settings: { MAX_UTTERANCE_MS: 2000 } });
    await harness.say(concat(spoken(HELLO), silence(800), spoken([...TV, ...TV]), silence(800)));
    expect(callers(harness)).toEqual([written(HELLO)]);
    expect(others(harness).length).toBeGreaterThanOrEqual(3);
  });

  it('is in no turn, and the turn of the caller ends', async () => {
    const ignore = (): void => undefined;
    const turns = {
      isWanted: () => true,
      expected: () => null,
      onEnded: ignore,
      onContinued: ignore,
      onAnswer: ignore,
    };
    const harness = new TranscriberHarness({ marksBackground: true, turns });
    await harness.say(concat(spoken(HELLO), spoken(TV), spoken(MORE), spoken(TV), silence(800)));
    const ended = harness.events.filter((event) => event.type === 'turn.ended');
    const numbers = harness.finals.filter(({ background }) => !background).map(({ utterance }) => utterance);
    expect(ended.map(({ first, last }) => [first, last])).toEqual(numbers.map((n) => [n, n]));
  });

  it('leaves nothing open at the end of the track', async () => {
    const harness = watched();
    await harness.say(concat(spoken(HELLO), silence(800), spoken(TV)));
    await harness.end();
    expect(others(harness)).toHaveLength(1);
    expect([harness.engine.pending, harness.clock.pending]).toEqual([0, 0]);
  });
});
