import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Caller, type Gateway, startCalls } from '../calls/harness.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { SpanTree } from './span-tree.ts';

let app: TestApp;
let gateway: Gateway;
let spans: SpanTree;
let caller: Caller;
beforeEach(async () => {
  app = await startApp();
  spans = new SpanTree();
  gateway = startCalls({ APP_URL: app.url }, null, (clock) => spans.open(clock));
  caller = gateway.dial().start();
  await app.until(({ frames }) => frames.length > 0);
});
afterEach(async () => {
  const drained = gateway.registry.drain(0);
  await gateway.clock.run(100);
  await drained;
  await app.close();
});

/** The caller says something, and the app is told. */
async function ask(): Promise<void> {
  const before = app.of('prompt').length;
  await pass(600, 'speak');
  await pass(600, 'hush');
  await app.until(() => app.of('prompt').length > before);
}

/** Time passes in which the caller speaks or is silent, and hears what is played. */
async function pass(durationMs: number, how: 'speak' | 'hush' = 'hush'): Promise<void> {
  for (let ms = 0; ms < durationMs; ms += 20) {
    caller[how](20).returnMarks(gateway.clock.nowMs());
    await gateway.clock.run(20);
  }
}

async function answer(token: string): Promise<void> {
  app.say({ type: 'text', token, last: true });
  await app.exchanged();
}

async function hangUp(): Promise<void> {
  caller.stop();
  await gateway.clock.run(100);
}

const outcomes = () => spans.of('turn').map(({ attributes }) => attributes['trunkline.turn.outcome']);
const linesOf = (...names: string[]) => spans.lines.filter((line) => names.includes(line.trim().split(' ')[0] ?? ''));

describe('the spans of an app’s turns', () => {
  it('go from the caller’s last final to the first sound of the answer', async () => {
    await ask();
    gateway.engine.speakMs = 100;
    await pass(240);
    await answer('Your balance is forty two dollars.');
    await pass(2000);
    await hangUp();
    expect(linesOf('turn', 'hold', 'app', 'voice', 'speech')).toMatchInlineSnapshot(`
      [
        "  turn 1030+510",
        "    hold 1030+0",
        "    app 1030+410",
        "    voice 1440+100",
        "  speech 1440+780",
      ]
    `);
    expect(outcomes()).toEqual(['answered']);
  });

  it('tell an answer that came too late to sound, and one that never came', async () => {
    gateway.engine.speakMs = 3000;
    await ask();
    await answer('This takes a while.');
    await ask();
    await hangUp();
    expect(outcomes()).toEqual(['unheard', 'unanswered']);
  });

  it('show what a caller cut off, and the turn that it began', async () => {
    await ask();
    await answer('Your balance is forty two dollars. Would you like to hear more?');
    await pass(400);
    await ask();
    await answer('Fine.');
    await pass(1000);
    await hangUp();
    expect(outcomes()).toEqual(['answered', 'answered']);
    const cut = spans.of('speech').filter(({ attributes }) => attributes['trunkline.speech.interrupted'] === true);
    expect(cut[0]?.attributes['trunkline.speech.heard_ms']).toBeLessThan(
      cut[0]?.attributes['trunkline.speech.audio_ms'] as number,
    );
  });

  it('can be continued by the app: its handshake names the call’s span', async () => {
    await hangUp();
    const { traceId, spanId } = spans.of('call')[0]?.spanContext() ?? {};
    expect(app.requests[0]?.headers['traceparent']).toBe(`00-${traceId}-${spanId}-01`);
    expect(spans.attributes('call')).toMatchObject({ 'app.origin': `ws://127.0.0.1:${app.port}` });
  });
});
