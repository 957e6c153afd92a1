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
import { FakeEngine, spoken } from '../../fakes/engine.ts';

const PIECE_MS = 100;
const SAMPLES_PER_MS = 16;
/** A word and the gap behind it, as {@link spoken} says them. */
const WORD_MS = 250;
/** How long words are numbered before the utterance is cut. */
const WORDS = 44;

it('counts the time in which the socket was not read into the lag of what waited in it', async () => {
  const clock = new FakeClock();
  const engine = new FakeEngine(clock);
  const peer = new CarrierSocket();
  const told: { lagMs: number; atMs: number }[] = [];
  const metrics = new Metrics();
  new TranscribeSocket({
    socket: peer.asWebSocket,
    request: {} as FastifyRequest,
    engine,
    clock,
    settings: readSettings({}),
    useServerVad: true,
    rateHz: 16_000,
    orders: metrics.transcribeOrders,
    failures: new Failures({ families: new ClientFamilies([]), clock, log: createLog('silent'), metrics }),
    metrics: { ...toTranscriberMetrics(metrics), partial: (lagMs) => told.push({ lagMs, atMs: clock.nowMs() }) },
  }).open();
  const speech = spoken(Array.from({ length: WORDS }, (_, index) => index + 1));
  const unread: Buffer[] = [];
  let pauses = 0;
  engine.detectMs = 10_000;
  for (let from = 0; from < speech.length; from += PIECE_MS * SAMPLES_PER_MS) {
    clock.advance(PIECE_MS);
    unread.push(Buffer.from(samplesToPcm16(speech.subarray(from, from + PIECE_MS * SAMPLES_PER_MS))));
    for (await settle(); !peer.isPaused && unread.length > 0; await settle())
      peer.emit('message', unread.shift(), true);
    if (peer.isPaused) pauses++;
    // The first windows are kept for 10 s, those after them are judged at once.
    engine.detectMs = 0;
  }
  expect(pauses).toBeGreaterThan(10);
  expect(peer.isPaused).toBe(false);
  const texts = peer.sent
    .map((message) => JSON.parse(message) as { text?: string; is_partial?: boolean })
    .filter((each) => each.is_partial);
  expect(texts).toHaveLength(told.length);
  const late = told.map(({ lagMs, atMs }, index) => {
    const lastWord = Number(/(\d+)\.$/.exec(texts[index]?.text ?? '')?.[1]);
    return { lagMs, trueMs: atMs - lastWord * WORD_MS };
  });
  expect(Math.max(...late.map(({ trueMs }) => trueMs))).toBeGreaterThan(4000);
  // A word is recognised when it is said to three quarters, and a piece came as one.
  for (const { lagMs, trueMs } of late) expect(Math.abs(lagMs - trueMs)).toBeLessThanOrEqual(WORD_MS + PIECE_MS);
  peer.hangUp();
});
