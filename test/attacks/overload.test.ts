/**
 * More speech than the engines can take: what comes late is told, what never comes is told, and nothing else is
 * missing.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { loadAudio } from '../../src/cli/audio-file.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { placeCall, TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';
import { tones } from '../helpers/signals.ts';

const TONES = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };
/** The detector and a caption's end know the place of speech to a few windows of 32 ms. */
const TOLERANCE_MS = 130;
const WARN = 40;

let gateway: GatewayProcess;
let feed: FeedReader;

afterEach(async () => {
  feed?.close();
  await gateway?.stop('SIGKILL');
});

async function open(environment: Record<string, string>): Promise<string> {
  gateway = await startGateway(environment);
  await expect.poll(async () => (await fetch(`${gateway.url}/ready`)).status).toBe(200);
  feed = await readFeed(gateway.url);
  return `${gateway.url.replace(/^http/, 'ws')}/twilio/media`;
}

function signalEngines(signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of gateway.enginePids()) process.kill(pid, signal);
}

const eventsOf = <T extends FeedEvent['type']>(type: T, callId: string) =>
  feed.events.filter(
    (event): event is Extract<FeedEvent, { type: T }> => event.type === type && event.callId === callId,
  );

/** Stretches in which somebody was told to speak and that are in no final and in no gap. */
function untold(callId: string): string[] {
  const told = [...feed.finals(callId), ...eventsOf('gap', callId)].toSorted((a, b) => a.startMs - b.startMs);
  const stops = feed.events.filter((event) => event.type === 'speech.stopped' && event.callId === callId);
  return feed.events.flatMap((event) => {
    if (event.type !== 'speech.started' || event.callId !== callId) return [];
    const stop = stops.find((each) => 'atMs' in each && each.atMs >= event.atMs);
    const endMs = stop !== undefined && 'atMs' in stop ? stop.atMs : Number.POSITIVE_INFINITY;
    let coveredTo = event.atMs;
    for (const { startMs, endMs: toMs } of told)
      if (startMs <= coveredTo + TOLERANCE_MS) coveredTo = Math.max(coveredTo, toMs);
    return coveredTo + TOLERANCE_MS >= endMs ? [] : [`${callId} ${event.atMs}–${endMs}, told until ${coveredTo}`];
  });
}

const warningsOf = (callId: string) =>
  gateway.logLines.filter((line) => line['level'] === WARN && line['callId'] === callId);

describe('far more speech than one engine can take', () => {
  it('comes late and whole, and that it does is told', async () => {
    const url = await open({ ENGINE_WORKERS: '1', LIVE_LAG_MAX_MS: '60000' });
    const [inbound = new Int16Array(0)] = await loadAudio(
      packagePath('fixtures', 'audio', 'long-speech.wav'),
      MULAW_8K.rateHz,
      'mix',
    );
    const callIds = Array.from({ length: 10 }, (_, index) => `CAlate${index}`);
    const calls = callIds.map((callSid) =>
      placeCall({ url, tracks: { inbound }, pace: 'fast', clock: systemClock, callSid }),
    );
    await Promise.all(calls);
    await Promise.all(
      callIds.map((callId) => feed.until((event) => event.type === 'call.ended' && event.callId === callId)),
    );
    expect(callIds.flatMap(untold)).toEqual([]);
    for (const callId of callIds) {
      expect(eventsOf('gap', callId)).toEqual([]);
      expect(feed.finals(callId).at(-1)?.endMs).toBeGreaterThan(20_000);
    }
    const starts = callIds.flatMap((callId) => eventsOf('lag.started', callId));
    const ends = callIds.flatMap((callId) => eventsOf('lag.ended', callId));
    expect(starts.length).toBeGreaterThan(0);
    expect(ends).toHaveLength(starts.length);
    const page = await gateway.metrics();
    expect(metricValue(page, 'trunkline_lags_total')).toBe(starts.length);
    expect(metricValue(page, 'trunkline_tracks_behind')).toBe(0);
    expect(
      gateway.logLines.filter((line) => String(line['msg']).startsWith('captions come late')).length,
    ).toBeGreaterThan(0);
  });
});

describe('callers who hang up while an engine stands still', () => {
  it('free their places at once, though their last words are still to be read', async () => {
    const url = await open({ ...TONES, MAX_CALLS: '2' });
    signalEngines('SIGSTOP');
    const inbound = tones(60, [400], 0.3, { onMs: 1500, offMs: 900 });
    const callers = ['CAgone0', 'CAgone1'].map((callSid) => {
      const caller = new TwilioCaller({ url, tracks: { inbound }, pace: 'realtime', clock: systemClock, callSid });
      return { caller, ended: caller.run() };
    });
    await feed.until((event) => event.type === 'lag.started');
    for (const { caller } of callers) caller.drop();
    await Promise.all(callers.map(({ ended }) => ended));
    await expect
      .poll(async () => metricValue(await gateway.metrics(), 'trunkline_calls_live{carrier="twilio"}'))
      .toBe(0);
    const next = new TwilioCaller({
      url,
      tracks: { inbound },
      pace: 'realtime',
      clock: systemClock,
      callSid: 'CAnext',
    });
    const called = next.run();
    await feed.until((event) => event.type === 'call.started' && event.callId === 'CAnext');
    next.drop();
    await called;
    signalEngines('SIGCONT');
    for (const callId of ['CAgone0', 'CAgone1'])
      await feed.until((event) => event.type === 'call.ended' && event.callId === callId);
    expect(['CAgone0', 'CAgone1'].flatMap(untold)).toEqual([]);
  });
});

describe('an engine that stands still', () => {
  it('costs what was sent meanwhile, to the end of the call, and that is told everywhere', async () => {
    const url = await open(TONES);
    signalEngines('SIGSTOP');
    const inbound = tones(60, [400], 0.3, { onMs: 1500, offMs: 900 });
    const caller = new TwilioCaller({ url, tracks: { inbound }, pace: 'fast', clock: systemClock, callSid: 'CAstill' });
    const ended = caller.run();
    await feed.until((event) => event.type === 'lag.started' && event.callId === 'CAstill');
    await fetch(`${gateway.url}/v1/calls/CAstill/hangup`, { method: 'POST' });
    const gap = await feed.until((event) => event.type === 'gap' && event.callId === 'CAstill');
    expect(gap).toMatchObject({
      track: 'inbound',
      reason: 'overload',
      startMs: expect.any(Number),
      endMs: expect.any(Number),
    });
    signalEngines('SIGCONT');
    caller.drop();
    await ended;
    await feed.until((event) => event.type === 'call.ended' && event.callId === 'CAstill');
    expect(untold('CAstill')).toEqual([]);
    expect(feed.finals('CAstill').length).toBeGreaterThan(0);

    const transcript = async (format: string) =>
      (await fetch(`${gateway.url}/v1/calls/CAstill/transcript?format=${format}`)).text();
    expect(await transcript('text')).toMatch(/^\[00:0\d\.\d{3}\] inbound: \[missing 00:\d\d\.\d{3}–00:\d\d\.\d{3}\]$/m);
    expect(await transcript('srt')).toMatch(/^inbound: \[missing\]$/m);
    expect(await transcript('vtt')).toMatch(/^<v inbound>\[missing\]$/m);
    expect(JSON.parse(await transcript('json')).data).toContainEqual(
      expect.objectContaining({ kind: 'gap', reason: 'overload' }),
    );
    expect(metricValue(await gateway.metrics(), 'trunkline_finals_lost_total{reason="overload"}')).toBe(
      eventsOf('gap', 'CAstill').length,
    );
    const { startMs, endMs } = gap as Extract<FeedEvent, { type: 'gap' }>;
    expect(warningsOf('CAstill')).toContainEqual(
      expect.objectContaining({ track: 'inbound', startMs, endMs, reason: 'overload' }),
    );
    expect(JSON.stringify(gateway.logLines)).not.toContain('alpha');
  });
});
