import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, metricValue, startGateway, usageOf } from '../helpers/gateway.ts';
import { behaveRudely, RUDE_WAYS } from './rude.ts';
import { recording } from './understanding.ts';

const RUDE_CALLS = 300;
const AT_ONCE = 12;
const GROWTH_MAX_BYTES = 40e6;

let gateway: GatewayProcess;
beforeAll(async () => {
  gateway = await startGateway({ START_TIMEOUT_MS: '2000', MEDIA_TIMEOUT_MS: '2000' });
});
afterAll(() => gateway.stop());

it('outlives 300 rude callers without a trace and captions the next call', async () => {
  await rudeCalls(0, AT_ONCE * 4);
  const before = await handles();
  const rssBefore = usageOf(gateway.pid).rssBytes;

  await rudeCalls(AT_ONCE * 4, RUDE_CALLS);

  // What was closed a moment ago may still be counted.
  await expect.poll(handles).toBeLessThanOrEqual(before);
  expect(usageOf(gateway.pid).rssBytes - rssBefore).toBeLessThan(GROWTH_MAX_BYTES);
  expect(await captionOfNextCall()).toMatch(/\w+ \w+/);
});

async function rudeCalls(from: number, to: number): Promise<void> {
  const acts = Object.values(RUDE_WAYS);
  const url = `${gateway.url.replace(/^http/, 'ws')}/twilio/media`;
  let next = from;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < to) {
        const id = next++;
        const act = acts[id % acts.length];
        if (act !== undefined) await behaveRudely(url, act, id);
      }
    }),
  );
}

async function untilIdle(): Promise<void> {
  const reader = async () =>
    ((await (await fetch(`${gateway.url}/v1/calls`)).json()) as { data?: { state: string }[] }).data ?? [];
  await expect.poll(async () => (await reader()).filter((call) => call.state === 'live').length).toBe(0);
}

/** Open sockets, pipes and timers of the gateway, the scrape's own connection included both times. */
async function handles(): Promise<number> {
  await untilIdle();
  return metricValue(await gateway.metrics(), 'nodejs_active_resources_total');
}

async function captionOfNextCall(): Promise<string> {
  const feed = await readFeed(gateway.url);
  const inbound = recording('short');
  const url = `${gateway.url.replace(/^http/, 'ws')}/twilio/media`;
  await placeCall({ url, tracks: { inbound }, pace: 'realtime', clock: systemClock, callSid: 'CAafter' });
  await feed.until((event) => event.type === 'call.ended' && event.callId === 'CAafter');
  feed.close();
  return feed
    .finals('CAafter')
    .map((caption) => caption.text)
    .join(' ');
}
