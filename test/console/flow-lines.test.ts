/** The way of a call through its flow, as the page tells it. */
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';

interface Log {
  readonly items: readonly { readonly text: string; readonly startMs: number }[];
  apply(event: object): string[];
  sideOf(item: object): string | null;
}

const { CallLog } = (await import(packagePath('src', 'console', 'page', 'call', 'call-log.js'))) as {
  CallLog: new (startedAt: string) => Log;
};

const at = { callId: 'CA1', flow: 'shop' };
const started = { type: 'flow.started', ...at, version: '3f9c01ab', atMs: 0 };
const step = (name: string, atMs: number, flow = 'shop') => ({
  type: 'flow.step',
  ...at,
  flow,
  step: name,
  verb: 'say',
  atMs,
});
const input = (outcome: string, text: string | null, value: unknown, atMs: number, kind = 'speech') => ({
  type: 'flow.input',
  ...at,
  step: 'menu',
  kind,
  outcome,
  text,
  value,
  atMs,
});
const ended = (outcome: string, reason: string | null = null) => ({
  type: 'flow.ended',
  ...at,
  outcome,
  step: 'menu',
  reason,
  atMs: 90_000,
});

function linesOf(events: readonly object[]): string[] {
  const log = new CallLog('');
  for (const event of events) log.apply(event);
  return log.items.map(({ text }) => text);
}

const WAY = [
  started,
  step('hours', 10),
  step('welcome', 20),
  step('menu', 2000),
  input('noMatch', 'bicycles?', null, 6000),
  input('match', '1', 'hours', 9000, 'keys'),
  step('tellHours', 9010),
  step('ask', 9020, 'who'),
  ended('done'),
];
const LINES = [
  'Flow shop: hours → welcome → menu',
  'menu: “bicycles?” fits nothing',
  'menu: pressed 1, understood as hours',
  'tellHours → who/ask',
  'The flow came to its end',
];

describe('the steps of a call', () => {
  it('are few lines, with what was understood', () => {
    expect(linesOf(WAY)).toEqual(LINES);
  });

  it('are the same in whatever order and however often they come', () => {
    expect(linesOf(WAY.toReversed())).toEqual(LINES);
    expect(linesOf([...WAY, ...WAY])).toEqual(LINES);
  });

  it('name the first and the last of many', () => {
    const steps = Array.from({ length: 20 }, (_, n) => step(`s${n}`, n));
    expect(linesOf([started, ...steps])).toEqual(['Flow shop: s0 → s1 → s2 → (14 more) → s17 → s18 → s19']);
  });

  it.each([
    [input('noInput', null, null, 1, 'none'), 'menu: no answer'],
    [input('match', null, null, 1, 'keys'), 'menu: a private answer'],
    [input('match', 'Yes, please', true, 1), 'menu: “Yes, please”, understood as yes'],
    [input('match', '4711', '4711', 1, 'keys'), 'menu: pressed 4711'],
    [ended('hangup'), 'The call ended in the step menu'],
    [ended('transferred'), 'The flow put the caller through'],
    [ended('failed', 'http 500'), 'The flow failed in the step menu: http 500'],
    [ended('failed', 'menu: too many'), 'The flow failed in the step menu: too many'],
    [ended('failed'), 'The flow failed in the step menu'],
  ])('say what became of a question, and how the flow ended', (event, words) => {
    expect(linesOf([event])).toEqual([words]);
  });

  it('can be left out, as what each side said', () => {
    const log = new CallLog('');
    for (const event of WAY) log.apply(event);
    expect(new Set(log.items.map((item) => log.sideOf(item)))).toEqual(new Set(['steps']));
  });
});
