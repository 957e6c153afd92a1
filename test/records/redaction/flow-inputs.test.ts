import { beforeEach, describe, expect, it } from 'vitest';
import type { FeedEvent, FlowInputEvent } from '../../../src/calls/feed/events.ts';
import { NO_PATTERNS } from '../../../src/records/redaction/own-patterns.ts';
import { FeedRedaction, StoreRedaction } from '../../../src/records/redaction/redaction.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { ended, said } from '../told-calls.ts';

const CALL = 'CA1';
const CARD = '4111111111111111';
/** What is stored or published, by its id. */
let seen: Map<string, FeedEvent>;
let clock: FakeClock;
let take: (event: FeedEvent) => void;
let utterance: number;

beforeEach(() => {
  seen = new Map();
  clock = new FakeClock();
  utterance = 0;
});

function openStore(): void {
  const redaction = new StoreRedaction({ clock, patterns: NO_PATTERNS }, (rewrites) => {
    for (const { id, event } of rewrites) seen.set(id, event);
  });
  take = (event) => {
    const id = `e-${seen.size}`;
    const { event: stored, rewrites } = redaction.take(id, event);
    seen.set(id, stored);
    for (const rewrite of rewrites) seen.set(rewrite.id, rewrite.event);
  };
}

function openFeed(): void {
  const publish = (event: FeedEvent): void => {
    for (const rewritten of redaction.rewrite(event)) seen.set(`e-${seen.size}`, rewritten);
  };
  const redaction = new FeedRedaction({ clock, patterns: NO_PATTERNS }, publish);
  take = publish;
}

const caption = (text: string, changes = {}): void => take(said(CALL, ++utterance, text, changes));
const press = (digits: string): void => {
  for (const digit of digits) take({ type: 'dtmf', callId: CALL, digit, atMs: 0 });
};

function input(text: string | null, value: FlowInputEvent['value'], kind: FlowInputEvent['kind'] = 'speech'): void {
  const outcome = value === null && text === null ? 'noInput' : 'match';
  take({ type: 'flow.input', callId: CALL, flow: 'shop', step: 'ask', kind, outcome, text, value, atMs: 0 });
}

/** Text and value of the answers as they read now. */
function answers(): unknown[] {
  return [...seen.values()].flatMap((event) => (event.type === 'flow.input' ? [[event.text, event.value]] : []));
}

const HIDDEN = '•'.repeat(16);

describe.each([
  ['stored', openStore],
  ['published', openFeed],
] as const)('what a caller answered to a flow, as it is %s', (_how, open) => {
  beforeEach(open);

  it('has no card number, said in one utterance or in several, and no digit in their value', () => {
    caption('4111 1111 1111 1111');
    input('4111 1111 1111 1111', CARD);
    caption('My card is');
    caption('4111 1111');
    caption('1111 1111.');
    input('My card is 4111 1111 1111 1111.', Number(CARD));
    expect(answers()).toEqual([
      ['[card number]', '[card number]'],
      ['My card is [card number] [card number].', '[card number]'],
    ]);
  });

  it('has no card number that is pressed, also in four parts', () => {
    press(`${CARD}#`);
    input(CARD, CARD, 'keys');
    for (const part of ['4539', '1488', '0343', '6467']) {
      press(part);
      input(part, part, 'keys');
    }
    expect(answers()[0]).toEqual([HIDDEN, '[card number]']);
    expect(JSON.stringify(answers().slice(2))).not.toMatch(/\d/);
  });

  it('keeps choices, words and short numbers', () => {
    press('2');
    input('2', 'sales', 'keys');
    caption('I would like to cancel');
    input('I would like to cancel', 'cancel');
    caption('What is your order number?', { track: 'outbound' });
    caption('It is 4711');
    input('It is 4711', '4711');
    input(null, null, 'none');
    expect(answers()).toEqual([
      ['2', 'sales'],
      ['I would like to cancel', 'cancel'],
      ['It is 4711', '4711'],
      [null, null],
    ]);
  });

  it('has nothing readable of what was asked for by a private name', () => {
    caption('Please enter your PIN.', { track: 'outbound' });
    press('4711');
    input('4711', '4711', 'keys');
    caption('And your date of birth?', { track: 'outbound' });
    caption('June fourth nineteen eighty four');
    input('June fourth nineteen eighty four', '1984-06-04');
    expect(answers()).toEqual([
      ['••••', '[security code]'],
      ['[date of birth]', expect.not.stringMatching(/\d/)],
    ]);
  });

  it('that no caption repeats is masked whole where the caller just said something private', () => {
    caption('4111 1111 1111 1111');
    input('vier eins eins eins', 'card');
    clock.advance(60_000);
    caption('I see.');
    input('Thank you', true);
    input(CARD, CARD);
    expect(answers()).toEqual([
      ['[number]', 'card'],
      ['Thank you', true],
      ['[card number]', '[card number]'],
    ]);
  });
});

describe('a stored answer', () => {
  beforeEach(openStore);

  it('reads as its captions do when they turn out to be no number', () => {
    caption('It was 415');
    input('It was 415', 415);
    expect(answers()).toEqual([['It was [number]', null]]);
    clock.advance(22_000);
    expect(answers()).toEqual([['It was 415', 415]]);
  });

  it('in parts is masked when the keys become a card number', () => {
    for (const part of ['4539', '1488', '0343', '6467']) {
      press(part);
      input(part, part, 'keys');
    }
    take(ended(CALL));
    expect(answers()).toEqual(Array(4).fill(['••••', null]));
  });

  it('of six keys that are no number is given back when the call is over', () => {
    press('123456');
    input('123456', '123456', 'keys');
    expect(answers()).toEqual([['1234••', null]]);
    take(ended(CALL));
    expect(answers()).toEqual([['123456', '123456']]);
  });
});
