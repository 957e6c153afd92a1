import { afterEach, describe, expect, it } from 'vitest';
import type { CaptionEvent } from '../../src/calls/feed/events.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { nonSpeechSignals } from '../helpers/signals.ts';
import { errorRate, recording, textOf } from './understanding.ts';

const LONG_SPEECH_MS = 8000;
const SYNTHETIC_WER_MAX = 15;

let gateway: GatewayProcess | undefined;
afterEach(async () => {
  await gateway?.stop('SIGKILL');
  gateway = undefined;
});

const mediaUrl = (running: GatewayProcess) => `${running.url.replace(/^http/, 'ws')}/twilio/media`;

describe('a gateway with the real models', () => {
  it('captions both sides of a call while they speak', async () => {
    gateway = await startGateway();
    const feed = await readFeed(gateway.url);
    const tracks = { inbound: recording('demo-caller'), outbound: recording('demo-agent') };
    await placeCall({ url: mediaUrl(gateway), tracks, pace: 'realtime', clock: systemClock, callSid: 'CAboth' });
    await feed.until((event) => event.type === 'call.ended');

    const said = { inbound: textOf('demo-caller'), outbound: textOf('demo-agent') };
    for (const track of ['inbound', 'outbound'] as const) {
      const captions = feed.finals('CAboth').filter((caption) => caption.track === track);
      const heard = captions.map((caption) => caption.text).join(' ');
      expect(errorRate(said[track], heard)).toBeLessThan(SYNTHETIC_WER_MAX);
    }
    const transcript = await (await fetch(`${gateway.url}/v1/calls/CAboth/transcript?format=text`)).text();
    const revised = (event: CaptionEvent) =>
      feed.events.findLast(
        (other) => other.type === 'revision' && other.track === event.track && other.utterance === event.utterance,
      );
    for (const caption of feed.finals('CAboth')) {
      const { text } = { ...caption, ...revised(caption) };
      expect(transcript).toContain(text);
    }
    feed.close();
  });

  it('loses no call and no final when an engine is killed in mid-call', async () => {
    gateway = await startGateway();
    const feed = await readFeed(gateway.url);
    const running = gateway;
    const inbound = recording('long-speech');
    const call = placeCall({
      url: mediaUrl(gateway),
      tracks: { inbound },
      pace: 'realtime',
      clock: systemClock,
      callSid: 'CAkilled',
    });
    await feed.until((event) => event.type === 'caption');
    const killEngines = () => {
      for (const pid of running.enginePids()) process.kill(pid, 'SIGKILL');
    };
    killEngines();
    await feed.until((event) => event.type === 'caption' && event.endMs > LONG_SPEECH_MS);
    killEngines();
    await call;
    await feed.until((event) => event.type === 'call.ended');

    const heard = feed.finals('CAkilled').map((caption) => caption.text);
    expect(errorRate(textOf('long-speech'), heard.join(' '))).toBeLessThan(SYNTHETIC_WER_MAX);
    expect(await gateway.metrics()).toMatch(/trunkline_engine_restarts_total [1-9]/);
    feed.close();
  });

  it('makes no caption of anything that is not speech', async () => {
    gateway = await startGateway();
    const feed = await readFeed(gateway.url);
    const running = gateway;
    const signals = Object.values(nonSpeechSignals(20));
    await Promise.all(
      signals.map((inbound, index) =>
        placeCall({
          url: mediaUrl(running),
          tracks: { inbound },
          pace: 'fast',
          clock: systemClock,
          callSid: `CAquiet${index}`,
        }),
      ),
    );
    for (const index of signals.keys())
      await feed.until((event) => event.type === 'call.ended' && event.callId === `CAquiet${index}`);
    expect(feed.events.filter((event) => event.type === 'caption')).toEqual([]);
    feed.close();
  });

  it('finishes the running caption and exits with 0 on SIGTERM', async () => {
    gateway = await startGateway({ DRAIN_TIMEOUT_MS: '500' });
    const feed = await readFeed(gateway.url);
    const call = placeCall({
      url: mediaUrl(gateway),
      tracks: { inbound: recording('long-speech') },
      pace: 'realtime',
      clock: systemClock,
      callSid: 'CAdrained',
    });
    await feed.until((event) => event.type === 'caption' && event.endMs > LONG_SPEECH_MS);
    const exited = gateway.stop('SIGTERM');
    await feed.until((event) => event.type === 'call.ended' && event.reason === 'drained');
    expect(feed.finals('CAdrained').length).toBeGreaterThan(0);
    await call.catch(() => undefined);
    expect(await exited).toBe(0);
    gateway = undefined;
  });
});

describe('a start that cannot work', () => {
  it('ends with 78 and names the setting', async () => {
    await expect(startGateway({ CHUNK_MS: 'four hundred' })).rejects.toThrow(
      /ended with 78.*CHUNK_MS: got "four hundred"/s,
    );
  });

  it('ends with 78 and the command that helps when CUDA is wanted and missing', async () => {
    await expect(startGateway({ EXECUTION_PROVIDER: 'cuda' })).rejects.toThrow(/ended with 78.*npm run gpu:install/s);
  });

  it('refuses to listen beyond this machine without keys', async () => {
    await expect(startGateway({ HOST: '0.0.0.0' })).rejects.toThrow(/ended with 78.*API_KEYS/s);
  });
});
