import { beforeEach, describe, expect, it } from 'vitest';
import type { CaptionEvent, FeedEvent, FlowInputEvent } from '../../../src/calls/feed/events.ts';
import type { Track } from '../../../src/protocols/dialect.ts';
import { NO_PATTERNS } from '../../../src/records/redaction/own-patterns.ts';
import { FeedRedaction, StoreRedaction } from '../../../src/records/redaction/redaction.ts';
import { FakeClock } from '../../fakes/clock.ts';

const CALL = 'CA1';
/** What a stored or published event says, by its id. */
let seen: Map<string, FeedEvent>;
let clock: FakeClock;
let number: number;
let take: (event: FeedEvent) => void;

beforeEach(() => {
  seen = new Map();
  clock = new FakeClock();
  number = 0;
});

function openStore(): void {
  const redaction = new StoreRedaction({ clock, patterns: NO_PATTERNS }, (rewrites) => {
    for (const { id, event } of rewrites) seen.set(id, event);
  });
  take = (event) => {
    const id = `e-${++number}`;
    const { event: stored, rewrites } = redaction.take(id, event);
    seen.set(id, stored);
    for (const rewrite of rewrites) seen.set(rewrite.id, rewrite.event);
  };
}

function openFeed(): void {
  const publish = (event: FeedEvent): void => {
    for (const rewritten of redaction.rewrite(event)) seen.set(`e-${++number}`, rewritten);
  };
  const redaction = new FeedRedaction({ clock, patterns: NO_PATTERNS }, publish);
  take = publish;
}

const utterances: Record<Track, number> = { inbound: 0, outbound: 0 };

function caption(text: string, track: Track = 'inbound'): void {
  take(captionOf({ text, track, utterance: ++utterances[track], final: true }));
}

function captionOf(part: Partial<CaptionEvent> & { text: string }): CaptionEvent {
  const { text } = part;
  const times = { startMs: 0, endMs: 0, lagMs: 0 };
  const whose = { callId: CALL, track: 'inbound', utterance: 1, final: false } as const;
  return { type: 'caption', stable: text, tail: '', ...whose, ...times, ...part };
}

function revision(utterance: number, version: number, text: string): void {
  take({ type: 'revision', callId: CALL, track: 'inbound', utterance, version, text, startMs: 0, endMs: 0 });
}

function key(digit: string): void {
  take({ type: 'dtmf', callId: CALL, digit, atMs: 0 });
}

/** What a flow made of an answer. */
function input(text: string | null, value: FlowInputEvent['value'], kind: FlowInputEvent['kind'] = 'keys'): void {
  const at = { callId: CALL, flow: 'shop', step: 'ask', atMs: 0 };
  take({ type: 'flow.input', ...at, kind, outcome: 'match', text, value });
}

function end(handoffData: string | null = null): void {
  take({ type: 'call.ended', callId: CALL, reason: 'hangup', durationMs: 0, handoffData });
}

/** The texts, keys and revisions that are seen now, in order. */
function read(): string[] {
  return [...seen.values()].map((event) => {
    if (event.type === 'dtmf') return event.digit;
    if (event.type === 'revision') return `${event.utterance}v${event.version} ${event.text}`;
    if (event.type === 'flow.input') return `${event.text} = ${event.value}`;
    return 'text' in event ? event.text : event.type;
  });
}

beforeEach(() => {
  utterances.inbound = 0;
  utterances.outbound = 0;
});

describe('what is stored', () => {
  beforeEach(openStore);

  it('has no part of a number that is dictated with pauses', () => {
    const said = ['My card is', '4111', '1111.', 'one one one one', 'And 1111', 'Thank you.'];
    for (const text of said) {
      caption(text);
      clock.advance(3000);
      expect(read().join(' ')).not.toMatch(/1111|one one/);
    }
    const card = '[card number]';
    expect(read()).toEqual(['My card is', card, `${card}.`, card, `And ${card}`, 'Thank you.']);
  });

  it('gets back what was no number', () => {
    caption('It was 415');
    expect(read()).toEqual(['It was [number]']);
    clock.advance(22_000);
    expect(read()).toEqual(['It was 415']);
    caption('or 416');
    expect(read()).toEqual(['It was 415', 'or [number]']);
    caption('one moment');
    caption('I am sorry');
    caption('I do not know');
    expect(read()).toEqual(['It was 415', 'or 416', 'one moment', 'I am sorry', 'I do not know']);
    caption('and 417');
    end();
    expect(read().slice(5)).toEqual(['and 417', 'call.ended']);
  });

  it('has every version of a text masked', () => {
    caption('4111');
    caption('for 111');
    revision(2, 2, '1111');
    caption('1111');
    caption('1111');
    expect(read()).toEqual(Array.from({ length: 5 }, () => expect.stringMatching(/\[(card )?number\]$/)));
  });

  it('knows what was asked for on the other side', () => {
    caption('What is your account number?', 'outbound');
    caption('It is 48213 7');
    caption('And your date of birth?', 'outbound');
    caption('June fourth, nineteen eighty four');
    caption('And the order number?', 'outbound');
    caption('4155550132');
    expect(read().filter((_, index) => index % 2 === 1)).toEqual([
      'It is [account number]',
      '[date of birth]',
      '4155550132',
    ]);
  });

  it('has keys masked that are a number, and choices in menus readable', () => {
    key('2');
    clock.advance(60_000);
    for (const digit of '4111111111111111') key(digit);
    expect(read().join('')).toBe(`2${'•'.repeat(16)}`);
    clock.advance(60_000);
    for (const digit of '123456#') key(digit);
    expect(read().slice(17).join('')).toBe('123456#');
  });

  it('masks keys that were asked for at once', () => {
    const spoken = { utterance: 'u1', heardText: '', interrupted: false, startMs: 0, endMs: 0, atMs: 0 };
    take({ type: 'spoken', callId: CALL, text: 'Please enter your PIN.', ...spoken });
    for (const digit of '1234') key(digit);
    expect(read().slice(1).join('')).toBe('••••');
  });

  it('has what we say, what is written and what is handed over masked', () => {
    const times = { interrupted: true, startMs: 0, endMs: 0, atMs: 0 };
    const text = 'Your card is 4111 1111 1111 1111, is that right?';
    take({ type: 'spoken', callId: CALL, utterance: 'u1', text, heardText: 'Your card is 4111', ...times });
    take({ type: 'spoken', callId: CALL, utterance: 'u2', text, heardText: 'Your card', ...times });
    take({ type: 'note', callId: CALL, note: 'n', author: 'a', text: 'Mail anna@example.com', at: '' });
    end('call 415-555-0132');
    const [cut, early, note, ended] = [...seen.values()];
    expect(cut).toMatchObject({
      text: 'Your card is [card number], is that right?',
      heardText: 'Your card is [card number]',
    });
    expect(early).toMatchObject({ heardText: 'Your card' });
    expect(note).toMatchObject({ text: 'Mail [e-mail address]' });
    expect(ended).toMatchObject({ handoffData: 'call [phone number]' });
  });
});

describe.each([
  ['what is stored', openStore],
  ['what readers see', openFeed],
])('of the answers to a flow, %s', (_what, open) => {
  beforeEach(open);

  it('has numbers masked, in the text and in the value', () => {
    input('4111111111111111', '4111111111111111');
    input('it is four one one one one one one one one one one one one one one one', 4_111_111_111_111_111, 'speech');
    input('two', 2, 'speech');
    input(null, null);
    expect(read()).toEqual([
      '[card number] = [card number]',
      'it is [card number] = [card number]',
      'two = 2',
      'null = null',
    ]);
  });

  it('has masked what was asked for before', () => {
    caption('What is your account number?', 'outbound');
    input('482137', '482137');
    expect(read().at(-1)).toBe('[account number] = [account number]');
  });
});

describe('what readers of the feed see', () => {
  beforeEach(openFeed);

  it('has a mask before a number is complete, and says by a revision what it was', () => {
    for (const text of ['4111', '1111', '1111', '1111']) caption(text);
    const texts = read();
    expect(texts.join(' ')).not.toContain('1111');
    for (const utterance of [1, 2, 3]) expect(texts).toContain(`${utterance}v2 [card number]`);
    expect(texts).toContain('[card number]');
  });

  it('gives back by a revision what was no number, numbered on from there', () => {
    caption('It was 415');
    clock.advance(22_000);
    revision(1, 2, 'It was 416.');
    end();
    expect(read()).toEqual([
      'It was [number]',
      '1v2 It was 415',
      '1v3 It was [number].',
      '1v4 It was 416.',
      'call.ended',
    ]);
  });

  it('leaves digits at the end of a partial out until they are no number', () => {
    const texts: string[] = [];
    const words =
      'I have two dogs and my card is four one double one one one one one one one one one one one one one thanks';
    const said = words.split(' ');
    let stable = '';
    said.forEach((_, index) => {
      const text = said.slice(0, index + 1).join(' ');
      take(captionOf({ text, stable: said.slice(0, Math.max(index - 1, 0)).join(' '), tail: '' }));
      const event = [...seen.values()].at(-1) as CaptionEvent;
      expect(event.stable.startsWith(stable)).toBe(true);
      expect(event.text).toBe(event.stable + event.tail);
      expect(event.text).not.toMatch(/four|one|double/);
      stable = event.stable;
      texts.push(event.text);
    });
    expect(texts[2]).toBe('I have');
    expect(texts[3]).toBe('I have two dogs');
    expect(texts[15]).toBe('I have two dogs and my card is');
    expect(texts.at(-1)).toBe('I have two dogs and my card is [card number] thanks');
    take(captionOf({ text: words, final: true }));
    const final = [...seen.values()].at(-1) as CaptionEvent;
    expect(final).toMatchObject({ text: 'I have two dogs and my card is [card number] thanks', tail: '' });
    expect(final.stable.startsWith(stable)).toBe(true);
  });

  it('does not show in a partial what goes on with a number of the utterance before it', () => {
    caption('4111');
    take(captionOf({ text: '1111 1111', utterance: 2 }));
    expect(read().join(' ')).not.toContain('1111');
  });

  it('keeps keys masked from the fifth of a run on', () => {
    for (const digit of '123456') key(digit);
    expect(read().join('')).toBe('1234••');
  });
});

it('holds no timer and no call when everything is over', () => {
  openStore();
  caption('It was 415');
  end();
  clock.advance(2000);
  expect(clock.pending).toBe(0);
});

describe('a call that is over', () => {
  const late: FeedEvent = { type: 'lag.started', callId: CALL, track: 'inbound', atMs: 1, lagMs: 2000 };
  const over: FeedEvent = { type: 'call.ended', callId: CALL, reason: 'hangup', durationMs: 0, handoffData: null };

  it('is not remembered for events that come after its end, and these are redacted still', () => {
    const options = { clock: new FakeClock(), patterns: NO_PATTERNS };
    const store = new StoreRedaction(options, () => undefined);
    const feed = new FeedRedaction(options, () => undefined);
    const said = captionOf({ text: 'My card is 4111 1111 1111 1111', final: true });
    for (const event of [late, over, late, said]) {
      feed.rewrite(event);
      store.take('e-1', event);
    }
    expect([feed.callCount, store.callCount]).toEqual([0, 0]);
    expect(JSON.stringify(feed.rewrite(said))).not.toContain('4111');
  });
});
