import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AppServices } from '../../../../src/calls/app/services.ts';
import { startWebhook, type TestWebhook } from '../../../helpers/webhook.ts';
import { type Caller, type Gateway, startCalls } from '../../harness.ts';
import { passUntil } from './passing.ts';

let webhook: TestWebhook;
let gateway: Gateway;
let caller: Caller;
beforeEach(async () => {
  webhook = await startWebhook();
});
afterEach(async () => {
  const drained = gateway.registry.drain(0);
  await passUntil(gateway, caller, () => gateway.registry.liveCount === 0);
  await drained;
  await webhook.close();
});

function call(environment: Record<string, string> = {}, recordings?: Pick<AppServices, 'fetchAudio'>): void {
  const own = { APP_TWIML_URL: `${webhook.origin}/voice`, OUTBOUND_ALLOW: 'apps=127.0.0.0/8', APP_RECONNECT_MS: '0' };
  gateway = startCalls({ ...own, ...environment });
  Object.assign(gateway.context.apps, recordings);
  caller = gateway.dial().start();
}

const spoken = () => gateway.events.flatMap((event) => (event.type === 'spoken' ? [event.text] : []));
const reasons = () => gateway.events.flatMap((event) => (event.type === 'call.ended' ? [event.reason] : []));
const ended = () => passUntil(gateway, caller, () => reasons().length > 0);
const warnings = () => gateway.logLines.filter((line) => line.includes('"level":40')).join('\n');

describe('verbs', () => {
  it('do not lead in circles for ever', async () => {
    webhook.answers['/voice'] = '<Redirect>/voice</Redirect>';
    call({ APP_GONE_TEXT: 'Sorry.' });
    await ended();
    expect([webhook.asked.length, spoken(), reasons()]).toEqual([51, ['Sorry.'], ['app']]);
  });

  it('that say nothing are not repeated, or nobody else would get a turn', async () => {
    webhook.answers['/voice'] = '<Say loop="0">.</Say><Play loop="0">/empty.wav</Play><Say loop="2">One.</Say>';
    call({}, { fetchAudio: async () => ({ samples: new Int16Array(0), rateHz: 8000 }) });
    await ended();
    expect(spoken()).toEqual(['.', `${webhook.origin}/empty.wav`, 'One.', 'One.']);
  });

  it('do not dial one app after the other for ever', async () => {
    webhook.answers['/voice'] = '<Connect><ConversationRelay url="ws://127.0.0.1:9/"/></Connect>'.repeat(60);
    call({ APP_GONE_TEXT: '.' });
    await ended();
    expect(warnings()).toContain('"sessions":51');
  });

  it('do not hold a call for ever', async () => {
    webhook.answers['/voice'] = '<Pause length="300"/>'.repeat(7);
    call({ APP_GONE_TEXT: 'Sorry.', MEDIA_TIMEOUT_MS: '3600000' });
    await webhook.until(1);
    await gateway.context.apps.twiml.settled();
    for (let turns = 0; turns < 200 && reasons().length === 0; turns++) {
      await new Promise(setImmediate);
      await gateway.clock.run(20_000, 2000);
      caller.returnMarks(gateway.clock.nowMs());
    }
    expect([spoken(), reasons()]).toEqual([['Sorry.'], ['app']]);
  });

  it('that name a foreign voice are heard also while no engine has told its voices yet', async () => {
    webhook.answers['/voice'] = `<Say voice="Polly.Nobody">Hello.</Say>`;
    call();
    const { engine } = gateway;
    const { voices } = engine;
    engine.voices = [];
    vi.spyOn(engine, 'detect').mockImplementation(async () => {
      engine.voices = voices;
      return { probabilities: Float32Array.of(0), state: Float32Array.of(1) };
    });
    await ended();
    expect(engine.spoken).toMatchObject([{ text: 'Hello.', voice: 'rms' }]);
  });
});
