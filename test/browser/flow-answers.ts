/** What a server with the flows of dialplans/ivr and a week of calls answers the page. */
import { readFileSync } from 'node:fs';
import { nodesOf } from '../../src/flows/file/flow-graph.ts';
import { readFlow } from '../../src/flows/file/read-flow.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { FlowCount } from '../../src/records/flows/flow-count.ts';
import type { FlowEvent } from '../../src/records/flows/flow-path.ts';
import { type FlowMoment, flowCall } from '../records/flows/told-flows.ts';
import type { Answers } from './console-answers.ts';

const VERSION = '3f9c01ab';
const EARLIER = '77e0d21c';
const WEEK = '2026-01-05T08:00:00.000Z';

function drawn(name: string) {
  const text = readFileSync(packagePath('dialplans', 'ivr', `${name}.yaml`), 'utf8');
  const { flow } = readFlow(text, name);
  if (flow === null) throw new Error(`expected ${name}.yaml to be right`);
  return { name, start: flow.start, keys: Object.fromEntries(flow.keys), steps: nodesOf(flow), about: flow.about };
}

const SHOP = drawn('shop');
const verbOf = new Map<string, string>(SHOP.steps.map(({ name, verb }) => [name, verb]));
const steps = (...names: string[]): FlowMoment[] => names.map((step) => ({ step, verb: verbOf.get(step) ?? 'say' }));
const OPEN = steps('hours', 'welcome', 'menu');

/** Ways through the flow, and how many calls took them. */
const WAYS: readonly (readonly [number, readonly FlowMoment[]])[] = [
  [176, [...OPEN, { match: 'hours' }, ...steps('tellHours', 'more', 'goodbye'), { end: 'done' }]],
  [94, [...OPEN, { match: 'repairs' }, ...steps('repairs', 'more', 'goodbye'), { end: 'done' }]],
  [
    9,
    [...OPEN, { match: 'hours' }, ...steps('tellHours', 'more', 'menu', 'repairs', 'more', 'goodbye'), { end: 'done' }],
  ],
  [48, [...OPEN, { match: 'person' }, ...steps('person'), { end: 'transferred' }]],
  [
    9,
    [
      ...OPEN,
      { noMatch: 'Do you have bicycles for children?' },
      { match: 'person' },
      ...steps('person'),
      { end: 'transferred' },
    ],
  ],
  [6, [...OPEN, { noMatch: 'My name is Miller, like yours, and I ordered a red one last week.' }, { end: 'hangup' }]],
  [4, [...OPEN, { noMatch: '7', keys: true }, { noInput: true }, { end: 'hangup' }]],
  [2, [...OPEN, { noMatch: 'It is [number]' }, ...steps('person'), { end: 'transferred' }]],
  [46, [...OPEN, { end: 'hangup' }]],
  [11, [...OPEN, { noInput: true }, ...steps('person', 'nobody', 'voicemail', 'goodbye'), { end: 'done' }]],
  [23, [...steps('hours', 'closed', 'voicemail', 'goodbye'), { end: 'done' }]],
  [8, [...steps('hours', 'closed', 'voicemail'), { end: 'hangup' }]],
  [1, OPEN],
];

function count(version: string | null) {
  const counting = new FlowCount({ flow: 'shop', version, within: ['shop'] });
  let seq = 0;
  for (const [calls, way] of WAYS)
    for (let call = 0; call < calls; call++) {
      seq += 1;
      const isOver = way !== OPEN;
      const used = seq % 5 === 0 ? EARLIER : VERSION;
      const state = isOver ? 'ended' : 'live';
      const row = { seq, started_ms: Date.parse(WEEK), flow: 'shop', flow_version: used, state };
      const wanted = counting.take([row]);
      const events = flowCall(`CA${seq}`, way, { isOver, version: used });
      for (const event of events)
        if (wanted.length > 0 && event.type.startsWith('flow.'))
          counting.add(seq, slowed(event as FlowEvent, 1 + (seq % 7)));
      counting.finishSlice();
    }
  return counting.read(true);
}

function slowed(event: FlowEvent, factor: number): FlowEvent {
  return { ...event, atMs: event.atMs * factor };
}

/** The statistics of `shop` as the API has them. */
function statistics(version: string | null): object {
  const { versions, steps: counted, ...rest } = count(version);
  return {
    flow: 'shop',
    from: WEEK,
    to: WEEK,
    version,
    ...rest,
    versions: versions.map((used) => ({ version: used.version, calls: used.calls, first: WEEK, last: WEEK })),
    steps: counted.map((step) => ({
      ...step,
      exits: step.exits.map(({ exit, count: times }) => ({ flow: null, step: null, ...exit, count: times })),
    })),
  };
}

function listed(name: string, about: string, changes: object = {}): object {
  const usual = { state: 'used', version: VERSION, since: WEEK, refusedSince: null, errors: [], warnings: [] };
  return { name, file: `${name}.yaml`, about, ...usual, calls: { count: 437, isMore: false, last: WEEK }, ...changes };
}

/** Three flows: one that is used, one that was spoilt, one that never was right. */
export const FLOWS = [
  listed('appointment', 'Appointments of a hairdresser', {
    state: 'kept',
    version: '0badcafe',
    refusedSince: WEEK,
    errors: [{ line: 31, column: 13, message: 'steps.day.gather.kind: got "dat", expected one of digits, text, date' }],
    calls: { count: 58, isMore: false, last: WEEK },
  }),
  listed('order-status', '', {
    state: 'refused',
    version: null,
    since: null,
    refusedSince: WEEK,
    errors: [
      { line: 4, column: 8, message: 'start: got "welcom", expected a step of this flow, such as welcome' },
      { line: 22, column: 11, message: 'steps.ask.next: got "lookUp", which is no step' },
    ],
    warnings: [{ line: 40, column: 3, message: 'steps.late: no step leads here' }],
    calls: { count: 0, isMore: false, last: null },
  }),
  listed('shop', SHOP.about),
];

/** What the view asks for. */
export const FLOW_ANSWERS: Answers = {
  '/v1/flows': { data: FLOWS, next: null },
  '/v1/flows/shop': { ...(FLOWS[2] as object), flows: [SHOP] },
  '/v1/flows/shop/statistics': (url) => statistics(url.searchParams.get('version')),
};

const id = (digit: string): string => digit.repeat(32);
const spoken = { flow: 'shop', part: 'prompt', language: 'en-US', voice: null };

/** What `shop` and another flow say. */
export const SPOKEN = [
  {
    ...spoken,
    id: id('a'),
    step: 'welcome',
    text: "Welcome to Miller's Bicycles.",
    recording: 'welcome',
    source: 'recorded',
  },
  { ...spoken, id: id('b'), step: 'menu', text: 'For our opening hours, press 1.', recording: null, source: 'made' },
  { ...spoken, id: id('c'), step: 'goodbye', text: 'Goodbye, {name}.', recording: 'goodbye', source: 'values' },
  { ...spoken, id: id('d'), step: 'voicemail', text: null, recording: 'jingle', source: 'made' },
  { ...spoken, id: id('e'), flow: 'other', step: 'x', text: 'Of another flow.', recording: null, source: 'made' },
];

/** The recordings of these, one of which cannot be used. */
export const RECORDED = [
  { path: 'en/goodbye.wav', language: 'en', name: 'goodbye', durationMs: null, error: 'it is text' },
  { path: 'en/welcome.wav', language: 'en', name: 'welcome', durationMs: 1900, error: null },
];
