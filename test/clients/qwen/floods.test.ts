/** What a client may do to `WS /ws/transcribe` that no honest one does. */
import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { samplesToPcm16 } from '../../../src/audio/pcm.ts';
import { toTranscriberMetrics } from '../../../src/calls/inbound/track.ts';
import { TranscribeSocket } from '../../../src/clients/qwen/transcribe-socket.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { ClientFamilies } from '../../../src/http/server/client-families.ts';
import { Failures } from '../../../src/http/server/errors.ts';
import { CarrierSocket } from '../../fakes/carrier-socket.ts';
import { FakeClock, settle } from '../../fakes/clock.ts';
import { concat, FakeEngine, silence, spoken } from '../../fakes/engine.ts';
import { eventually } from '../../helpers/eventually.ts';

/** A peer that can leave unread what it is sent. */
class DeafSocket extends CarrierSocket {
  isDeaf = false;
  unread = 0;

  constructor() {
    super();
    Object.defineProperty(this, 'bufferedAmount', { get: () => this.unread });
  }

  override send(message: string): void {
    super.send(message);
    if (this.isDeaf) this.unread += message.length;
  }
}

function openSocket() {
  const clock = new FakeClock();
  const engine = new FakeEngine(clock);
  const peer = new DeafSocket();
  const metrics = new Metrics();
  const request = { id: 'r' } as FastifyRequest;
  new TranscribeSocket({
    socket: peer.asWebSocket,
    request,
    engine,
    clock,
    settings: readSettings({}),
    useServerVad: false,
    rateHz: 16_000,
    orders: metrics.transcribeOrders,
    failures: new Failures({ families: new ClientFamilies([]), clock, log: createLog('silent'), metrics }),
    metrics: toTranscriberMetrics(metrics),
  }).open();
  const say = (samples: Int16Array): unknown => peer.emit('message', Buffer.from(samplesToPcm16(samples)), true);
  return {
    clock,
    engine,
    metrics,
    peer,
    say,
    order: (text: string): unknown => peer.emit('message', Buffer.from(text), false),
  };
}

const FLUSH = '{"action":"flush"}';
const RESET = '{"action":"reset"}';

it('gives up a client that reads no answers', () => {
  const { clock, peer, order } = openSocket();
  peer.isDeaf = true;
  for (let sent = 0; sent < 100_000 && peer.closedWith === null; sent++) {
    order('no JSON');
    clock.advance(10);
  }
  expect(peer.closedWith).toEqual({ code: 4413, reason: 'reader_too_slow' });
  expect(peer.unread).toBeLessThan(readSettings({}).SEND_BUFFER_MAX_BYTES + 1000);
});

it('reads no further while a final is owed, and then goes on', async () => {
  const { clock, engine, peer, say, order } = openSocket();
  engine.transcribeMs = 50;
  say(spoken([1]));
  order(FLUSH);
  await settle();
  expect(peer.isPaused).toBe(true);
  for (let ms = 0; ms < 200; ms += 50) {
    clock.advance(50);
    await settle();
  }
  expect([peer.isPaused, JSON.parse(peer.sent.at(-1) ?? '')]).toEqual([
    false,
    { text: 'W1.', is_partial: false, is_final: true },
  ]);
});

it('answers orders that came in one go in their order', async () => {
  const { clock, engine, peer, say, order } = openSocket();
  engine.transcribeMs = 50;
  say(spoken([1]));
  order(FLUSH);
  order(FLUSH);
  say(spoken([2]));
  order(FLUSH);
  for (let ms = 0; ms < 500; ms += 50) {
    clock.advance(50);
    await settle();
  }
  expect(peer.sent.slice(1).map((message) => (JSON.parse(message) as { text: string }).text)).toEqual([
    'W1.',
    '',
    'W2.',
  ]);
});

it('shows no doubled punctuation, be it partial or final', async () => {
  const { engine, peer, say, order } = openSocket();
  engine.hear = ({ urgency }) => ({ text: urgency === 'final' ? 'However,, due..' : 'However,, du' });
  say(spoken([1, 2, 3]));
  await settle();
  order(FLUSH);
  await settle();
  const texts = peer.sent.slice(1).map((message) => (JSON.parse(message) as { text: string }).text);
  expect([texts.length > 1, new Set(texts)]).toEqual([true, new Set(['However, du', 'However, due.'])]);
});

it('answers all finals of a piece of the network that holds many', async () => {
  const { clock, engine, peer, say, order } = openSocket();
  engine.transcribeMs = 10;
  for (let sent = 0; sent < 40; sent++) {
    say(spoken([1]));
    order(FLUSH);
  }
  for (let turn = 0; turn < 60; turn++) {
    clock.advance(10);
    await new Promise(setImmediate);
  }
  expect(peer.closedWith).toBeNull();
  expect(peer.sent.slice(1).filter((message) => message.includes('"W1."'))).toHaveLength(40);
});

it('is closed when more waits than can have been read in one go, and then nothing counts', async () => {
  const { engine, metrics, peer, say, order } = openSocket();
  engine.transcribeMs = 1_000_000;
  say(spoken([1]));
  for (let sent = 0; sent < 20_000; sent++) order(FLUSH);
  await settle();
  expect(peer.closedWith).toEqual({ code: 1013, reason: 'too_many_requests' });
  expect([engine.pending, peer.isPaused]).toEqual([0, false]);
  const answered = peer.sent.length;
  say(spoken([2]));
  order('no JSON');
  await settle();
  expect([engine.pending, peer.sent.length]).toEqual([0, answered]);
  const { values } = await metrics.refused.get();
  expect(values.map(({ value, labels }) => [labels['code'], value])).toEqual([['too_many_requests', 1]]);
});

it('is read again when the last slice of a long message has been taken', async () => {
  const { peer, say } = openSocket();
  say(silence(3000));
  expect(peer.isPaused).toBe(true);
  await eventually(() => expect(peer.isPaused).toBe(false));
});

it('lets others go on between many orders', async () => {
  const { peer, order } = openSocket();
  for (let sent = 0; sent < 1000; sent++) order(`{"action":"config","use_server_vad":${sent % 2 === 0}}`);
  let turns = 0;
  for (; peer.sent.length < 1001 && turns < 1000; turns++) await new Promise(setImmediate);
  expect(peer.sent).toHaveLength(1001);
  expect(turns).toBeGreaterThanOrEqual(30);
});

it('takes a long message in slices, what came behind it after it, and lets others go on in between', async () => {
  const { peer, say, order } = openSocket();
  say(concat(silence(3000), spoken([7])));
  order(FLUSH);
  let turns = 0;
  for (; peer.sent.at(-1)?.includes('"W7."') !== true && turns < 100; turns++) await new Promise(setImmediate);
  expect([peer.sent.at(-1)?.includes('"W7."'), peer.isPaused]).toEqual([true, false]);
  expect(turns).toBeGreaterThanOrEqual(3);
});

it('begins nothing anew for orders that have nothing to end', () => {
  const { peer, order } = openSocket();
  const before = process.memoryUsage().arrayBuffers;
  for (let sent = 0; sent < 1000; sent++) order(RESET);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
  expect(peer.sent).toHaveLength(1001);
});

it('is read again after a reset that came while too much waited', async () => {
  const { engine, peer, say, order } = openSocket();
  engine.detectMs = 1_000_000;
  say(silence(6000));
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  expect(peer.isPaused).toBe(true);
  order(RESET);
  expect(peer.isPaused).toBe(false);
});

it('takes texts of any kind and size without falling over', () => {
  const { peer, order } = openSocket();
  const texts = [
    '',
    'null',
    '[]',
    '{}',
    '"flush"',
    '1e999',
    `{"action":"${'x'.repeat(1_000_000)}"}`,
    '['.repeat(4000),
    '{"__proto__":{"action":"flush"}}',
  ];
  for (const text of texts) order(text);
  const codes = peer.sent.slice(1).map((message) => (JSON.parse(message) as { code: string }).code);
  const malformed = 'INVALID_JSON';
  const unknown = 'UNKNOWN_ACTION';
  expect(codes).toEqual([
    malformed,
    malformed,
    unknown,
    unknown,
    malformed,
    malformed,
    'MESSAGE_TOO_LARGE',
    malformed,
    unknown,
  ]);
  expect(peer.closedWith).toBeNull();
  expect(Math.max(...peer.sent.map(({ length }) => length))).toBeLessThan(500);
});
