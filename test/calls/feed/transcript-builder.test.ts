import { describe, expect, it } from 'vitest';
import type { CaptionEvent, FeedEvent } from '../../../src/calls/feed/events.ts';
import { TranscriptBuilder, transcriptOf } from '../../../src/calls/feed/transcript-builder.ts';
import { speakersOf } from '../../../src/calls/feed/transcript-formats.ts';

const callId = 'CA1';

function final(utterance: number, text = 'Hello.', track: CaptionEvent['track'] = 'inbound'): CaptionEvent {
  const startMs = utterance * 1000;
  const event = { type: 'caption', callId, track, utterance, stable: text, tail: '', text, final: true } as const;
  return { ...event, startMs, endMs: startMs + 500, lagMs: 20 };
}

function revision(utterance: number, text: string, track: CaptionEvent['track'] = 'inbound'): FeedEvent {
  const startMs = utterance * 1000;
  return { type: 'revision', callId, track, utterance, version: 2, text, startMs, endMs: startMs + 500 };
}

const item = (utterance: number, text = 'Hello.', more: object = {}) => ({
  kind: 'caption',
  track: 'inbound',
  utterance,
  text,
  startMs: utterance * 1000,
  endMs: utterance * 1000 + 500,
  ...more,
});

const gap = { callId, track: 'outbound', startMs: 4000, endMs: 5000, reason: 'overload' } as const;
const gapEvent: FeedEvent = { type: 'gap', ...gap };
const gapItem = { kind: 'gap', track: 'outbound', startMs: 4000, endMs: 5000, reason: 'overload' };
const key = (digit: string, atMs: number): FeedEvent => ({ type: 'dtmf', callId, digit, atMs });
const state = (phase: 'held' | 'live' | 'queued', atMs: number): FeedEvent => ({
  type: 'call.state',
  callId,
  state: phase,
  atMs,
});

function spoken(utterance: string, text: string, startMs: number, heardText = text): FeedEvent {
  const endMs = startMs + 1000;
  const interrupted = heardText !== text;
  return { type: 'spoken', callId, utterance, text, heardText, interrupted, startMs, endMs, atMs: endMs };
}

function built(events: readonly FeedEvent[], itemsMax = 5000): TranscriptBuilder {
  const builder = new TranscriptBuilder({ itemsMax });
  for (const event of events) builder.add(event);
  return builder;
}

describe('a transcript', () => {
  it('has finals as they came, but for those without words, and no partials', () => {
    const partial = { ...final(4), final: false };
    const builder = built([final(1), final(2, ''), partial, final(3)]);
    expect(builder.items).toEqual([item(1), item(3)]);
  });

  it('has what is known of a final besides its words', () => {
    const marks = { confidence: 0.4, lowConfidence: true, language: null, background: true } as const;
    expect(built([{ ...final(1), ...marks }]).items).toEqual([item(1, 'Hello.', marks)]);
  });

  it('has the latest text of each, in its place, and none that proved to be empty', () => {
    const first = built([
      final(1),
      final(2),
      final(3, ''),
      gapEvent,
      revision(1, 'Hello,'),
      revision(2, ''),
      revision(1, 'Bye.', 'outbound'),
    ]);
    const bye = item(1, 'Bye.', { track: 'outbound', version: 2 });
    expect(first.items).toEqual([item(1, 'Hello,', { version: 2 }), gapItem, bye]);
    expect(first.counts).toEqual({ finals: 2, spoken: 0, keys: 0, gaps: 1 });
    first.add(revision(3, 'There.'));
    expect(first.items.at(-1)).toEqual(item(3, 'There.', { version: 2 }));
  });

  it('has both sides, in the order in which they began', () => {
    const events = [final(3), spoken('u1', 'How can I help?', 1000), final(2, 'Good morning.')];
    expect(transcriptOf(events).map((each) => [each.kind, each.startMs])).toEqual([
      ['spoken', 1000],
      ['caption', 2000],
      ['caption', 3000],
    ]);
  });

  it('has keys that belong together as one', () => {
    const { items, counts } = built([key('1', 1000), key('2', 1600), final(2), key('3', 4600), key('#', 7700)]);
    const pressed = { kind: 'dtmf', track: 'inbound' };
    expect(items).toEqual([
      { ...pressed, digits: '123', startMs: 1000, endMs: 4600 },
      item(2),
      { ...pressed, digits: '#', startMs: 7700, endMs: 7700 },
    ]);
    expect(counts.keys).toBe(4);
  });

  it('says when the call was held, up to its end', () => {
    const ended: FeedEvent = { type: 'call.ended', callId, reason: 'hangup', durationMs: 9000, handoffData: null };
    const held = { kind: 'gap', track: 'inbound', reason: 'held' };
    expect(built([state('held', 2000), state('live', 5000), state('held', 7000), ended]).items).toEqual([
      { ...held, startMs: 2000, endMs: 5000 },
      { ...held, startMs: 7000, endMs: 9000 },
    ]);
  });

  it('tells prompts of a queue apart, however late their captions come', () => {
    const heard = (utterance: number) => final(utterance, 'All agents are busy.', 'outbound');
    const { items } = built([
      state('queued', 0),
      state('live', 5000),
      heard(2),
      heard(6),
      revision(2, 'B.', 'outbound'),
    ]);
    expect(items.map((each) => each.kind === 'caption' && each.queued)).toEqual([true, undefined]);
  });

  it('names who speaks before and after a transfer, also where the text is revised', () => {
    const said = (utterance: number) => final(utterance, `Line ${utterance}.`, 'outbound');
    const assigned = (name: string | null, atMs: number): FeedEvent => ({
      type: 'call.assigned',
      callId,
      agent: name,
      queue: 'support',
      names: { inbound: 'Maria', outbound: name },
      atMs,
    });
    const { items } = built([
      assigned(null, 0),
      said(1),
      assigned('Tom', 2000),
      said(4),
      assigned('Ann', 6000),
      said(5),
      said(7),
      final(8, 'I see.', 'inbound'),
      revision(4, 'Line four.', 'outbound'),
    ]);
    const speakers = speakersOf({ inbound: 'Maria', outbound: null });
    expect(items.map((item) => [item.startMs, speakers(item)])).toEqual([
      [1000, 'outbound'],
      [4000, 'Tom'],
      [5000, 'Tom'],
      [7000, 'Ann'],
      [8000, 'Maria'],
    ]);
  });

  it('does not say twice what we said ourselves and was captioned as well', () => {
    const events = [
      spoken('u1', 'Your balance is forty-two dollars.', 1000),
      final(1, 'Your balance is forty two dollars.', 'outbound'),
      final(9, 'Your balance is forty two dollars.', 'outbound'),
      final(2, 'This is Tom speaking.', 'outbound'),
    ];
    expect(transcriptOf(events).map((each) => [each.kind, each.startMs])).toEqual([
      ['spoken', 1000],
      ['caption', 2000],
      ['caption', 9000],
    ]);
  });

  it('lets the oldest go beyond its limit, counts them, and says which stretch they leave empty', () => {
    const finals = Array.from({ length: 5002 }, (_, index) => final(index + 1));
    const builder = built(finals);
    expect(builder.dropped).toBe(2);
    expect(builder.items).toHaveLength(5001);
    expect(builder.items[0]).toEqual({ kind: 'gap', track: 'inbound', startMs: 1000, endMs: 2500, reason: 'limit' });
    expect([builder.items[1], builder.items.at(-1)]).toEqual([item(3), item(5002)]);
    expect(builder.counts.finals).toBe(5002);
  });
});
