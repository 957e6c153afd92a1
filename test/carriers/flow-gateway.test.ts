/** A whole gateway with a folder of flows, and callers over Twilio's protocol who go through them by key and voice. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { type Gateway, runGateway } from '../../src/gateway/main.ts';
import { type CallReport, TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { askVoiceWebhook, readStreamOrder } from '../../src/simulator/twilio-webhook.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';

const TONE = {
  ENGINE_WORKERS: '1',
  ASR_MODEL: 'tone',
  VAD_MODEL: 'tone',
  TTS_MODEL: 'tone',
  MODELS_DIR: 'none',
  DATA_DIR: 'none',
  LOG_LEVEL: 'silent',
  PORT: '0',
};
/** The pretend recogniser hears 600 Hz as "bravo". */
const BRAVO_HZ = 600;
const RATE_HZ = 8000;

const SHOP = `
version: 1
start: welcome
parameters: { shop: Our shop }
steps:
  welcome: { say: '{shop} is open all day long, and the day after that, too.', next: menu }
  menu:
    menu:
      prompt: One or bravo?
      timeoutMs: 30000
      choices:
        one: { key: '1', next: pin }
        bravo: { say: [bravo], next: bye }
  pin: { gather: { kind: digits, max: 3, into: pin, prompt: Your pin?, private: true }, next: menu }
  bye: { hangup: { prompt: Goodbye., handoffData: '{call.from}' } }
`;
const DESK = `
version: 1
start: hello
variables: { order: nothing }
steps:
  hello: { set: { order: '4711' }, next: colleague }
  colleague: { flow: { name: colleague, with: { order: '{order}' } }, next: bye }
  bye: { say: 'Goodbye.' }
`;
const COLLEAGUE = `
version: 1
start: give
parameters: { order: none }
steps:
  give: { transfer: { to: '+493012345', prompt: 'One moment.', busy: busy } }
  busy: { say: 'They are busy. Your order is {order}.' }
`;
const NUMBERS = "numbers: [{ number: '+15550199', flow: shop }]";

let folder: string;
let gateway: Gateway;
let feed: FeedReader;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flows-'));
  await writeFile(join(folder, 'shop.yaml'), SHOP);
  await writeFile(join(folder, 'desk.yaml'), DESK);
  await writeFile(join(folder, 'colleague.yaml'), COLLEAGUE);
  await writeFile(join(folder, 'numbers.yaml'), NUMBERS);
  gateway = await runGateway(readSettings({ ...TONE, FLOWS_DIR: folder, APP_URL: 'ws://127.0.0.1:1/' }));
  feed = await readFeed(gateway.url);
});

afterAll(async () => {
  feed.close();
  await gateway.close();
  await rm(folder, { recursive: true });
});

/** Silence, with a tone in it. */
function sound(toneMs: number | null): Int16Array {
  const samples = new Int16Array(60 * RATE_HZ);
  const from = ((toneMs ?? 0) / 1000) * RATE_HZ;
  if (toneMs !== null)
    for (let n = 0; n < RATE_HZ; n++) samples[from + n] = 8000 * Math.sin((2 * Math.PI * BRAVO_HZ * n) / RATE_HZ);
  return samples;
}

interface PlacedCall {
  readonly callId: string;
  readonly caller: TwilioCaller;
  /** Resolves when the call is over and its last event has come. */
  over(): Promise<CallReport>;
  events(): FeedEvent[];
  step(name: string, nth?: number): Promise<unknown>;
  spoken(text: string): Promise<unknown>;
}

async function call(query: string, to: string, toneMs: number | null = null): Promise<PlacedCall> {
  const url = `${gateway.url}/twilio/voice${query}`;
  const callSid = `CA${crypto.randomUUID().replaceAll('-', '')}`;
  const order = await askVoiceWebhook({ url, authToken: '', publicOrigin: '', callSid, from: '+15550100', to });
  const options = { pace: 'realtime', clock: systemClock, tracks: { inbound: sound(toneMs) } } as const;
  const caller = new TwilioCaller({ ...options, callSid, url: order.url, parameters: order.parameters });
  const run = caller.run();
  const events = () => feed.events.filter(({ callId }) => callId === callSid);
  const nth = (count: number, fits: (event: FeedEvent) => boolean) =>
    feed.until(() => events().filter(fits).length >= count);
  const over = async (): Promise<CallReport> => {
    const report = await run;
    await nth(1, ({ type }) => type === 'call.ended');
    return report;
  };
  return {
    callId: callSid,
    caller,
    over,
    events,
    step: (name, count = 1) => nth(count, (event) => event.type === 'flow.step' && event.step === name),
    spoken: (text) => nth(1, (event) => event.type === 'spoken' && event.text === text),
  };
}

const types = (events: readonly FeedEvent[]) => events.map(({ type }) => type);

describe.concurrent('a caller in a flow', () => {
  it('is asked, answers by key and by voice, and is thanked; nothing is told of a private answer', async () => {
    const line = await call('', '+15550199', 6000);
    await line.step('welcome');
    line.caller.sendDtmf('1');
    await line.step('pin');
    for (const digit of '471') line.caller.sendDtmf(digit);
    await line.step('menu', 2);
    const report = await line.over();
    const events = line.events();
    expect([report.closeCode, report.warnings]).toEqual([1000, []]);
    expect(report.received.mediaBytes).toBeGreaterThan(0);
    expect(events.find(({ type }) => type === 'call.started')).toMatchObject({ app: 'flow:shop' });
    expect(events.filter(({ type }) => type.startsWith('flow.')).map((event) => ({ ...event, atMs: 0 }))).toMatchObject(
      [
        { type: 'flow.started', flow: 'shop', version: expect.stringMatching(/^[0-9a-f]{8}$/) },
        { step: 'welcome', verb: 'say' },
        { step: 'menu', verb: 'menu' },
        { type: 'flow.input', step: 'menu', kind: 'keys', outcome: 'match', text: '1', value: 'one' },
        { step: 'pin', verb: 'gather' },
        { type: 'flow.input', step: 'pin', kind: 'keys', outcome: 'match', text: null, value: null },
        { step: 'menu', verb: 'menu' },
        {
          type: 'flow.input',
          step: 'menu',
          kind: 'speech',
          outcome: 'match',
          text: expect.stringContaining('bravo'),
          value: 'bravo',
        },
        { step: 'bye', verb: 'hangup' },
        { type: 'flow.ended', outcome: 'done', step: 'bye', reason: null },
      ],
    );
    expect(events.flatMap((event) => (event.type === 'dtmf' ? [event.digit] : []))).toEqual(['1', '•', '•', '•']);
    expect(events.at(-1)).toMatchObject({ type: 'call.ended', reason: 'app', handoffData: '+15550100' });
    expect(await showCall(line.callId)).toMatchObject({ app: 'flow:shop', endReason: 'app' });
  });

  it('leaves in the midst of it, which is told before the end of the call', async () => {
    const line = await call('?flow=shop&queue=sales', '+15550142');
    await line.step('welcome');
    line.caller.hangup();
    await line.over();
    expect(types(line.events()).filter((type) => /ended$|flow\.started/.test(type))).toEqual([
      'flow.started',
      'flow.ended',
      'call.ended',
    ]);
    expect(line.events().find(({ type }) => type === 'flow.ended')).toMatchObject({
      outcome: 'hangup',
      step: 'welcome',
    });
  });

  it('hears its prompts to their end where nothing cuts them off', async () => {
    const line = await call('?flow=shop', '+15550142');
    await line.spoken('One or bravo?');
    const spoken = line.events().filter((event) => event.type === 'spoken');
    expect(spoken.map(({ text, interrupted }) => [text, interrupted])).toEqual([
      ['Our shop is open all day long, and the day after that, too.', false],
      ['One or bravo?', false],
    ]);
    line.caller.hangup();
    await line.over();
  });
});

describe('a caller who is given to somebody else by Twilio', () => {
  const follow = async (callSid: string, query: string, fields: Record<string, string> = {}): Promise<string> => {
    const body = new URLSearchParams({ CallSid: callSid, From: '+15550100', To: '+15550142', ...fields });
    return (await fetch(`${gateway.url}/twilio/after${query}`, { method: 'POST', body })).text();
  };

  it('comes back to the flow where nobody takes the call, with all that it knows', async () => {
    const line = await call('?flow=desk', '+15550142');
    await line.over();
    expect(line.events().find(({ type }) => type === 'flow.ended')).toMatchObject({ outcome: 'transferred' });
    const dial = await follow(line.callId, '?flow=over');
    const action = /action="[^"]*\/twilio\/after(\?flow=dialled)"/.exec(dial)?.[1] ?? '';
    expect(dial).toContain('<Number>+493012345</Number>');
    const { url, parameters } = readStreamOrder(await follow(line.callId, action, { DialCallStatus: 'busy' }));
    expect(parameters).toMatchObject({ flow: 'desk', transferResult: 'busy' });
    const options = { pace: 'realtime', clock: systemClock, tracks: { inbound: sound(null) } } as const;
    await new TwilioCaller({ ...options, callSid: line.callId, url, parameters }).run();
    const events = (): FeedEvent[] => feed.events.filter(({ callId }) => callId.startsWith(`${line.callId}:`));
    await feed.until(() => events().some(({ type }) => type === 'call.ended'));
    expect(events().flatMap((event) => (event.type === 'flow.step' ? [event.step] : []))).toEqual([
      'give',
      'busy',
      'bye',
    ]);
    expect(events().flatMap((event) => (event.type === 'spoken' ? [event.text] : []))).toEqual([
      'They are busy. Your order is 4711.',
      'Goodbye.',
    ]);
    expect(await follow(line.callId, '?flow=over')).toContain('<Hangup/>');
  });

  it('is not kept when somebody had the call', async () => {
    const line = await call('?flow=desk', '+15550142');
    await line.over();
    await follow(line.callId, '?flow=over');
    expect(await follow(line.callId, '?flow=dialled', { DialCallStatus: 'completed' })).toContain('<Hangup/>');
  });
});

async function showCall(callId: string): Promise<unknown> {
  return (await fetch(`${gateway.url}/v1/calls/${callId}`)).json();
}
