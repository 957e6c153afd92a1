/** A whole call with a television behind the caller. */
import { describe, expect, it } from 'vitest';
import type { CallApp, CallerEvent } from '../../src/calls/app/call-app.ts';
import type { CallFlow } from '../../src/calls/app/call-flows.ts';
import type { CaptionEvent } from '../../src/calls/feed/events.ts';
import { type Caller, type Gateway, startCalls } from './harness.ts';

const CALLER = 3000;
const TV = 300;
const LONG = 'Welcome to the bank. How can we help you today? Say anything at all. '.repeat(4);

/** A call whose app writes down what it is told. */
function open(environment: Record<string, string> = {}): { gateway: Gateway; caller: Caller; told: CallerEvent[] } {
  const told: CallerEvent[] = [];
  const ignore = (): void => undefined;
  const onSpeech = (event: CallerEvent): void => void told.push(event);
  const app: CallApp = { unreachable: false, listens: true, onSpeech, onDtmf: ignore, mute: ignore, close: ignore };
  const flow: CallFlow = { name: 'notes', version: '1', open: () => app };
  const flows = { named: () => flow, calledAt: () => null };
  const gateway = startCalls(environment, null, () => null, flows);
  const caller = gateway.dial().start({ parameters: { flow: 'notes' } });
  return { gateway, caller, told };
}

async function speak({ gateway, caller }: { gateway: Gateway; caller: Caller }, ms: number, level: number) {
  for (let at = 0; at < ms; at += 100) {
    caller.speak(100, 'inbound', level);
    await gateway.clock.run(100);
  }
}

const finalsOf = (gateway: Gateway): CaptionEvent[] =>
  gateway.events.flatMap((event) => (event.type === 'caption' && event.final ? [event] : []));

describe('a call with a television behind the caller', () => {
  it('gives the app the turns of the caller alone, in time; readers see what else was said', async () => {
    const call = open();
    await speak(call, 1000, CALLER);
    await speak(call, 2000, TV);
    await speak(call, 1000, CALLER);
    await speak(call, 2000, TV);
    call.caller.stop();
    await call.gateway.clock.run(1000);

    const marks = finalsOf(call.gateway).map(({ background = false }) => background);
    expect(marks).toEqual([false, true, false, true]);
    const captions = call.told.filter((event) => event.type === 'caption' && event.final);
    expect(captions).toHaveLength(2);
    expect(call.told.filter(({ type }) => type === 'turn.ended')).toMatchObject([
      { first: 1, last: 1 },
      { first: 3, last: 3 },
    ]);
    const [first] = finalsOf(call.gateway);
    expect(first?.endMs).toBeGreaterThan(900);
    expect(first?.endMs).toBeLessThan(1300);
  });

  it('does not interrupt what is said', async () => {
    const call = open();
    await speak(call, 1000, CALLER);
    call.caller.hush(1000);
    await call.gateway.clock.run(1000);
    call.gateway.registry.voice('CA1')?.say(LONG);
    await speak(call, 3000, TV);
    expect(call.caller.socket.sent.filter((text) => text.includes('"clear"'))).toEqual([]);
    await speak(call, 200, CALLER);
    expect(call.caller.socket.sent.some((text) => text.includes('"clear"'))).toBe(true);
  });

  it('does not interrupt the greeting before anybody has spoken; the caller does', async () => {
    const call = open();
    call.gateway.registry.voice('CA1')?.say(LONG);
    await speak(call, 1500, TV);
    expect(call.caller.socket.sent.filter((text) => text.includes('"clear"'))).toEqual([]);
    await speak(call, 300, CALLER);
    expect(call.caller.socket.sent.some((text) => text.includes('"clear"'))).toBe(true);
  });

  it('is the caller with BACKGROUND_VOICES=keep, and the turn goes on while it talks', async () => {
    const call = open({ BACKGROUND_VOICES: 'keep' });
    await speak(call, 1000, CALLER);
    await speak(call, 2000, TV);
    expect(finalsOf(call.gateway)).toEqual([]);
  });
});
