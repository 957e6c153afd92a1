import { describe, expect, it } from 'vitest';
import { Call } from '../../src/calls/call.ts';
import { readCallParameters } from '../../src/calls/call-parameters.ts';
import { CallSummary } from '../../src/calls/call-summary.ts';
import { EndedSpeech } from '../../src/calls/inbound/ended-speech.ts';
import { LagTally } from '../../src/calls/inbound/lag.ts';
import type { CallLeg, LegHandlers } from '../../src/calls/leg.ts';
import { PendingCall } from '../../src/calls/pending-call.ts';
import { TrunklineError } from '../../src/foundation/errors.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import type { CallStart, CarrierCommand, CarrierEvent } from '../../src/protocols/dialect.ts';
import { settle } from '../fakes/clock.ts';
import { metricValue, startCalls } from './harness.ts';

const START: CallStart = {
  carrier: 'other',
  callId: 'C1',
  streamId: 'S1',
  from: null,
  to: null,
  tracks: ['inbound'],
  playback: 'buffered',
  codec: MULAW_8K,
  parameters: {},
};

/** A leg that only remembers what was asked of it. */
class QuietLeg implements CallLeg {
  readonly done: string[] = [];

  send({ type }: CarrierCommand): void {
    this.done.push(`send ${type}`);
  }

  close(code: number): void {
    this.done.push(`close ${code}`);
  }

  fail(error: TrunklineError): void {
    this.done.push(`fail ${error.code}`);
  }

  pause(): void {
    this.done.push('pause');
  }

  resume(): void {
    this.done.push('resume');
  }
}

function arrive(environment: Record<string, string> = {}, flow?: string) {
  const { context, registry, events, clock, logLines } = startCalls(environment);
  const leg = new QuietLeg();
  const opened: Call[] = [];
  const gone: PendingCall[] = [];
  let say: (event: CarrierEvent) => void = () => undefined;
  let closed: LegHandlers['onClosed'] = () => undefined;
  const pendingCall = new PendingCall({
    carrier: 'other',
    tokenRequired: false,
    flow,
    tokens: registry.tokens,
    context,
    connect: (handlers) => {
      say = (event) => handlers.onEvent(event);
      closed = (end) => handlers.onClosed(end);
      return leg;
    },
    claim: (start) => ({ id: start.callId, summary: summaryOf(start, clock.wall()) }),
    release: () => undefined,
    open: (accepted) => {
      const lags = new LagTally(clock, context.metrics);
      const call = new Call({
        ...accepted,
        context,
        lags,
        endedSpeech: new EndedSpeech(),
        dialledAt: null,
        onEnding: () => undefined,
        onEnded: () => undefined,
      });
      opened.push(call);
      return call;
    },
    onGone: (left) => gone.push(left),
  });
  return { pendingCall, leg, opened, gone, events, clock, say, closed, registry, logLines, feed: context.feed };
}

function summaryOf(start: CallStart, startedAt: Date): CallSummary {
  const { callId: id, carrier, from, to, tracks } = start;
  const parameters = readCallParameters(start);
  return new CallSummary({ id, carrier, from, to, tracks, app: null, startedAt, state: 'live', parameters, given: {} });
}

describe('PendingCall', () => {
  it('passes the parameters on without the token', () => {
    const { say, opened } = arrive();
    say({ type: 'start', start: { ...START, parameters: { token: 'secret', note: 'x' } } });
    expect(opened[0]?.start.parameters).toEqual({ note: 'x' });
  });

  it.each([
    ['its own parameter', 'url', 'token', { Flow: 'own' }, { Flow: 'own' }],
    ['the token', 'url', 'token', {}, { flow: 'token' }],
    ['the URL of its socket', 'url', undefined, {}, { flow: 'url' }],
    ['nobody', undefined, undefined, {}, {}],
  ])('follows the flow that is named by %s', (_who, url, issued, own, parameters) => {
    const { say, opened, registry } = arrive({}, url);
    const token = registry.tokens.issue({ callId: 'C1', from: null, to: null, flow: issued });
    say({ type: 'start', start: { ...START, parameters: { token, ...own } } });
    expect(opened[0]?.start.parameters).toEqual(parameters);
    expect(opened[0]?.start).not.toHaveProperty('flow');
  });

  it.each([
    ['a good token of a signed webhook', { TWILIO_AUTH_TOKEN: 'key' }, true, true],
    ['a good token that anybody could get', {}, true, false],
    ['a token that is no good', { TWILIO_AUTH_TOKEN: 'key' }, false, false],
  ])('with %s dials an app that the stream names: %j %j → %j', (_, environment, isGood, isDialled) => {
    const { say, opened, registry, logLines } = arrive(environment);
    const token = isGood ? registry.tokens.issue({ callId: 'C1', from: null, to: null }) : 'guessed';
    const app = 'ws://127.0.0.1:1/';
    say({ type: 'start', start: { ...START, parameters: { token, app } } });
    expect(opened[0]?.start.parameters).toEqual(isDialled ? { app } : {});
    expect(logLines.some((line) => line.includes('APP_ALLOWED_ORIGINS'))).toBe(!isDialled);
    void opened[0]?.end('closed');
  });

  it.each(['', 'with space', 'line\nbreak', 'nul\0', 'ü', 'x'.repeat(129)])(
    'refuses the name %j for a call or a stream',
    (name) => {
      for (const names of [{ callId: name }, { streamId: name }]) {
        const { say, leg, opened, gone } = arrive();
        say({ type: 'start', start: { ...START, ...names } });
        expect([leg.done, opened, gone.length]).toEqual([['fail message_malformed'], [], 1]);
      }
    },
  );

  it('takes names of up to 128 printable characters', () => {
    const { say, opened } = arrive();
    say({ type: 'start', start: { ...START, callId: '~'.repeat(128), streamId: '!' } });
    expect(opened).toHaveLength(1);
  });

  it('refuses a caller whose number is no number any more', () => {
    const { say, leg } = arrive();
    say({ type: 'start', start: { ...START, from: '1'.repeat(257) } });
    expect(leg.done).toEqual(['fail message_malformed']);
  });

  it('ends with an internal error when a part of its call throws', () => {
    const { say, leg, gone } = arrive();
    say({ type: 'start', start: { ...START, codec: { ...MULAW_8K, rateHz: 1 } } });
    expect([leg.done, gone.length]).toEqual([['fail internal'], 1]);
  });

  it('ends its call with an error when a part of it throws later', async () => {
    const { say, leg, events, clock } = arrive();
    say({ type: 'start', start: START });
    say({ type: 'audio', track: 'inbound', bytes: null as unknown as Uint8Array, atMs: 0, sequence: 1 });
    await settle();
    expect(leg.done[0]).toBe('fail internal');
    expect(events.at(-1)).toMatchObject({ type: 'call.ended', reason: 'error' });
    expect(clock.pending).toBe(0);
  });

  it('closes the socket of a stream that stops before it starts', () => {
    const { say, leg, gone, pendingCall } = arrive();
    say({ type: 'stop' });
    expect([leg.done, gone]).toEqual([['close 1000'], [pendingCall]]);
  });

  it('ignores what comes before the start', () => {
    const { say, leg, events } = arrive();
    say({ type: 'audio', track: 'inbound', bytes: new Uint8Array(160), atMs: 0, sequence: 1 });
    say({ type: 'dtmf', track: 'inbound', digit: '1' });
    say({ type: 'mark', name: 'm' });
    say({ type: 'ignored', what: 'connected' });
    expect([leg.done, events]).toEqual([[], []]);
  });

  it('counts and closes a failing socket once', async () => {
    const count = () => metricValue('trunkline_refused_total', { code: 'too_many_calls' });
    const before = await count();
    const { pendingCall, closed, leg, gone } = arrive();
    pendingCall.fail(new TrunklineError('too_many_calls', 'full'));
    pendingCall.fail(new Error('and on top of it'));
    closed({ reason: 'error', code: 'too_many_calls', error: null });
    expect([leg.done, gone.length, (await count()) - before]).toEqual([['fail too_many_calls'], 1, 1]);
  });

  it('dials no app for a call that a reader of the feed ends as it starts', async () => {
    const { say, opened, clock, feed } = arrive({ APP_URL: 'ws://127.0.0.1:1/' });
    feed.subscribe({}, ({ event }) => {
      if (event.type === 'call.started') opened[0]?.hangUp();
    });
    const connections = () => metricValue('trunkline_app_connections_total', { outcome: 'refused' });
    const before = await connections();
    say({ type: 'start', start: START });
    await opened[0]?.ended;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([(await connections()) - before, clock.pending]).toEqual([0, 0]);
  });

  it('hears nothing more once its call is ending', () => {
    const { say, events } = arrive();
    say({ type: 'start', start: START });
    say({ type: 'stop' });
    say({ type: 'dtmf', track: 'inbound', digit: '1' });
    expect(events.filter((event) => event.type === 'dtmf')).toEqual([]);
  });

  it('is gone once, however often its leg says so', () => {
    const { closed, gone } = arrive();
    closed({ reason: 'lost', code: null, error: null });
    closed({ reason: 'closed', code: null, error: null });
    expect(gone).toHaveLength(1);
  });
});
