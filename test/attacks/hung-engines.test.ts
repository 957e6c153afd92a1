/**
 * Engines stand still in the middle of a call, as they do that are stuck in a driver: nothing said is lost
 * below LIVE_LAG_MAX_MS, and captions tell how late they are.
 */
import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { eventually } from '../helpers/eventually.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';
import { isAlive } from '../helpers/processes.ts';

/** What the pretend recogniser hears in tones from 400 Hz on, 200 Hz from one to the next. */
const WORDS = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotel'];
const RATE_HZ = 8000;
const WORD_MS = 1000;
const PAUSE_MS = 500;
/** The engines stand still from the second word on. */
const HANG_FROM_MS = 2000;
/** Sound behind the last speech that a final uses (POST_ROLL_MS), which is not in its `endMs`. */
const POST_ROLL_MS = 100;
/**
 * What the sockets and this process may take to bring sound there and captions back, on a machine that does other
 * things too.
 */
const TRANSPORT_MAX_MS = 1000;

/** Each word for a second, half a second of silence behind it, and silence at the end for what is late. */
function speech(): Int16Array {
  const samples = new Int16Array(((WORD_MS + PAUSE_MS) * (WORDS.length + 2) * RATE_HZ) / 1000);
  for (const word of WORDS.keys()) {
    const from = (word * (WORD_MS + PAUSE_MS) * RATE_HZ) / 1000;
    const turn = (2 * Math.PI * (400 + 200 * word)) / RATE_HZ;
    for (let i = 0; i < (WORD_MS * RATE_HZ) / 1000; i++) samples[from + i] = Math.round(8000 * Math.sin(turn * i));
  }
  return samples;
}

interface Heard {
  readonly text: string;
  readonly toldMs: number;
  /** From the sending of the last sound used to the coming of the caption. */
  readonly measuredMs: number;
}

/** The finals of a call, as a reader of the feed finds them. */
class Listener {
  readonly finals: Heard[] = [];
  readonly #caller: TwilioCaller;

  constructor(caller: TwilioCaller) {
    this.#caller = caller;
  }

  hear(event: FeedEvent): void {
    if (event.type !== 'caption' || !event.final) return;
    const measuredMs = this.#caller.sentMs - event.endMs - POST_ROLL_MS;
    this.finals.push({ text: event.text, toldMs: event.lagMs, measuredMs });
  }
}

async function callThrough(gateway: GatewayProcess, hanging: number): Promise<{ finals: Heard[]; hung: number[] }> {
  const url = `${gateway.url.replace(/^http/, 'ws')}/twilio/media`;
  const caller = new TwilioCaller({
    url,
    tracks: { inbound: speech() },
    pace: 'realtime',
    clock: systemClock,
    callSid: 'CAhung',
  });
  const listener = new Listener(caller);
  const feed: FeedReader = await readFeed(gateway.url);
  const ended = feed.until((event) => {
    listener.hear(event);
    return event.type === 'call.ended';
  });
  const called = caller.run();
  await eventually(() => expect(caller.sentMs).toBeGreaterThanOrEqual(HANG_FROM_MS));
  const hung = gateway.enginePids().slice(0, hanging);
  for (const pid of hung) process.kill(pid, 'SIGSTOP');
  await called;
  await ended;
  feed.close();
  return { finals: listener.finals, hung };
}

describe.concurrent('engines that hang in a call', () => {
  it.each([
    ['one of two', 2, 1],
    ['both of two', 2, 2],
    ['the only one', 1, 1],
  ])('lose no final and hide no lag: %s', async (_which, workers, hanging) => {
    const gateway = await startGateway({
      ASR_MODEL: 'tone',
      VAD_MODEL: 'tone',
      TTS_MODEL: 'tone',
      ENDPOINT_CAPTIONS_MS: '400',
      // Nothing is lost below the ceiling, however slow the machine is that starts engines anew.
      LIVE_LAG_MAX_MS: '60000',
      ENGINE_WORKERS: String(workers),
    });
    try {
      await eventually(() =>
        expect(gateway.logLines.filter(({ msg }) => msg === 'engine ready')).toHaveLength(workers),
      );
      const { finals, hung } = await callThrough(gateway, hanging);
      expect(finals.map(({ text }) => text.split(' ')[0])).toEqual(WORDS);
      for (const { toldMs, measuredMs } of finals) expect(toldMs).toBeGreaterThanOrEqual(measuredMs - TRANSPORT_MAX_MS);
      const metrics = await gateway.metrics();
      expect(metricValue(metrics, 'trunkline_engine_jobs_resent_total')).toBeGreaterThan(0);
      expect(metricValue(metrics, 'trunkline_engine_restarts_total')).toBe(hanging);
      await eventually(() => expect(hung.filter(isAlive)).toEqual([]));
    } finally {
      await gateway.stop('SIGKILL');
    }
  });
});
