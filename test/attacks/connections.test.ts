/**
 * Somebody opens connections without end and says nothing, or begins requests that never end. Carriers come through all
 * the same.
 */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';
import { toneSpeech } from '../helpers/tones.ts';

const MAX = 20;
const FLOOD = 8 * MAX;

/** What a connection of the flood says: nothing, half a head, a whole head with half a body. */
const BEGINNINGS = [
  '',
  'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ',
  'POST /twilio/voice HTTP/1.1\r\nHost: a\r\nContent-Type: ' +
    'application/x-www-form-urlencoded\r\nContent-Length: 60\r\n\r\nCallSid=',
];

let gateway: GatewayProcess;
const flood = new Set<Socket>();
let isOver = false;
beforeAll(async () => {
  const pretend = { ENGINE_WORKERS: '1', ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone' };
  gateway = await startGateway({ ...pretend, CONNECTIONS_MAX: String(MAX) });
});
afterAll(async () => {
  isOver = true;
  for (const socket of flood) socket.destroy();
  await gateway.stop();
});

/** One connection of the flood, which comes again whenever it is cut off. */
function pester(index: number): void {
  if (isOver) return;
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  flood.add(socket);
  socket.write(BEGINNINGS[index % BEGINNINGS.length] ?? '');
  socket.on('error', () => undefined);
  socket.on('close', () => {
    flood.delete(socket);
    setImmediate(() => pester(index));
  });
}

it('takes a call to its transcript under a flood of idle connections, and never has more than it may', async () => {
  for (let index = 0; index < FLOOD; index++) pester(index);
  const media = `${gateway.url.replace('http', 'ws')}/twilio/media`;
  const inbound = toneSpeech(2, 400).filter((_, index) => index % 2 === 0);
  const report = await placeCall({
    url: media,
    tracks: { inbound },
    pace: 'realtime',
    clock: systemClock,
    callSid: 'CAflood',
  });
  expect(report.closeCode).toBe(1000);
  isOver = true;
  for (const socket of flood) socket.destroy();
  const transcript = () =>
    fetch(`${gateway.url}/v1/calls/CAflood/transcript?format=text`).then((answer) => answer.text(), String);
  await expect.poll(transcript).toMatch(/alpha.*\n.*alpha/);
  const page = await gateway.metrics();
  expect(metricValue(page, 'trunkline_http_connections')).toBeLessThanOrEqual(MAX);
  expect(metricValue(page, 'trunkline_http_connections_closed_total{reason="idle"}')).toBeGreaterThan(FLOOD - MAX);
});
