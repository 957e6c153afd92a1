/** A whole gateway and its collector. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Resampler } from '../../src/audio/resample.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { type Gateway, runGateway } from '../../src/gateway/main.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { metricValue } from '../helpers/gateway.ts';
import { readSettings } from '../helpers/settings.ts';
import { toneSpeech } from '../helpers/tones.ts';
import { attributesOf, Collector } from './collector.ts';

const PRETEND = {
  PORT: '0',
  ENGINE_PRELOAD: 'false',
  ENGINE_WORKERS: '1',
  ASR_MODEL: 'tone',
  VAD_MODEL: 'tone',
  MODELS_DIR: 'none',
  DATA_DIR: 'none',
};
const CALLER = '+14155550143';

let collector: Collector;
let address: string;
let gateway: Gateway | null = null;
let lines: { readonly level: number; readonly msg: string }[];
beforeEach(async () => {
  collector = new Collector();
  address = await collector.open();
});
afterEach(async () => {
  await gateway?.close();
  gateway = null;
  await collector.close();
});

async function run(environment: Record<string, string>): Promise<Gateway> {
  lines = [];
  const log = createLog('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
  gateway = await runGateway(readSettings({ ...PRETEND, ...environment }), { log });
  return gateway;
}

/** Places a call in which two words are said, and resolves when it is over. */
async function call({ url }: Gateway): Promise<void> {
  const { closeCode } = await placeCall({
    url: `${url.replace(/^http/, 'ws')}/twilio/media`,
    tracks: { inbound: new Resampler(16_000, 8000).push(toneSpeech(2, 600)) },
    pace: 'fast',
    clock: systemClock,
    callSid: 'CA0123',
    from: CALLER,
    parameters: { callerName: 'Ann Parker' },
  });
  expect(closeCode).toBe(1000);
  const view = async () => (await fetch(`${url}/v1/calls/CA0123`)).json();
  await expect.poll(view).toMatchObject({ state: 'ended' });
}

const metricsOf = async ({ url }: Gateway) => (await fetch(`${url}/metrics`)).text();
const transcriptOf = async ({ url }: Gateway) => (await fetch(`${url}/v1/calls/CA0123/transcript?format=text`)).text();

describe('a gateway with a collector', () => {
  it('sends it the spans of a call, and nothing of what was said and by whom', async () => {
    const running = await run({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${address}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=sesame%20open',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_SERVICE_NAME: 'bridge-7',
    });
    await call(running);
    expect(await transcriptOf(running)).toMatch(/bravo/i);
    const page = await metricsOf(running);
    await running.close();
    const { spans, resource, requests } = collector;
    expect(requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'content-type': 'application/json', 'x-collector-key': 'sesame open' },
    });
    expect(Object.keys(resource).sort()).toEqual([
      'deployment.environment.name',
      'service.instance.id',
      'service.name',
      'service.version',
      'telemetry.sdk.language',
      'telemetry.sdk.name',
      'telemetry.sdk.version',
    ]);
    expect(resource).toMatchObject({ 'deployment.environment.name': 'test', 'service.name': 'bridge-7' });
    const names = spans.map(({ name }) => name).sort();
    const twice = ['caption', 'queue', 'run', 'utterance'].flatMap((name) => [name, name]);
    // The second utterance was ended by the end of the call.
    expect(names).toEqual(['call', 'endpoint', ...twice].sort());
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(spans.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId)).map(({ name }) => name)).toEqual(['call']);
    const root = spans.find(({ name }) => name === 'call');
    expect(attributesOf(root?.attributes ?? [])).toMatchObject({
      'trunkline.call.id': 'CA0123',
      'trunkline.call.end_reason': 'hangup',
      'trunkline.call.finals': 2,
    });
    const sent = requests.map(({ body, headers }) => body + JSON.stringify(headers)).join('');
    expect(sent).not.toMatch(/bravo|4155550143|Ann|Parker/i);
    expect(metricValue(page, 'trunkline_spans_dropped_total{reason="failed"}')).toBeNaN();
    expect(lines.filter(({ msg }) => msg.includes('spans'))).toEqual([]);
  });

  it.each(['fail', 'hang', 'gone'] as const)(
    'that is of no use (%s) goes on as ever, says so once and ends',
    async (manner) => {
      if (manner === 'gone') await collector.close();
      else collector.manner = manner;
      const running = await run({
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${address}/spans`,
        // A minute is longer than a test may take: it is not what ends the gateway.
        OTEL_EXPORTER_OTLP_TIMEOUT: manner === 'hang' ? '60000' : '500',
      });
      await call(running);
      expect(await transcriptOf(running)).toMatch(/bravo/i);
      if (manner !== 'hang') {
        const dropped = async () =>
          metricValue(await metricsOf(running), 'trunkline_spans_dropped_total{reason="failed"}');
        await expect.poll(dropped).toBe(10);
      } else await expect.poll(() => collector.requests.length).toBe(1);
      await running.close();
      const told = lines.map(({ msg }) => msg).filter((msg) => msg.includes('spans'));
      expect(told).toEqual([
        manner === 'hang'
          ? 'the last spans of calls could not be delivered'
          : 'spans of calls cannot be delivered and are dropped',
      ]);
      if (manner === 'fail') expect(collector.requests[0]?.path).toBe('/spans');
    },
  );
});
