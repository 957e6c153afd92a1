/** The ways in for live audio that `bench -- listen` compares. A new one is one entry. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { encodeG711 } from '../../src/audio/g711.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { FRAME_MS, MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { readFeed } from '../helpers/feed.ts';

/** A settled text, and how long after the end of its speech it was there. */
export interface HeardFinal {
  readonly text: string;
  readonly lateMs: number;
}

/** One way in. */
export interface ListenEndpoint {
  readonly label: string;
  /** Speaks 8 kHz `audio` in real time to the gateway at `url`; resolves with the finals when all have come. */
  hear(url: string, audio: Int16Array): Promise<HeardFinal[]>;
}

/** Calls `send` with µ-law of 20 ms each, in real time. Returns when the first one was sent. */
async function pace(audio: Int16Array, send: (frame: Uint8Array) => void): Promise<number> {
  const bytes = encodeG711(audio, MULAW_8K);
  const frame = msToSamples(FRAME_MS, MULAW_8K.rateHz);
  const startedMs = systemClock.nowMs();
  for (let at = 0, dueMs = startedMs; at < bytes.length; at += frame, dueMs += FRAME_MS) {
    const waitMs = dueMs - systemClock.nowMs();
    if (waitMs > 0) await sleep(systemClock, waitMs);
    send(bytes.subarray(at, at + frame));
  }
  return startedMs;
}

interface Arrived {
  readonly text: string;
  readonly endMs: number;
  readonly arrivedMs: number;
}

function finalsOf(arrived: readonly Arrived[], startedMs: number): HeardFinal[] {
  return arrived.map(({ text, endMs, arrivedMs }) => ({ text, lateMs: arrivedMs - startedMs - endMs }));
}

/** The path of calls: final captions as they are told first, whatever revises them later. */
const TWILIO: ListenEndpoint = {
  label: 'Twilio media streams, unrevised finals',
  async hear(url, audio) {
    const caller = new TwilioCaller({
      url: `${url.replace(/^http/, 'ws')}/twilio/media`,
      tracks: { inbound: audio },
      pace: 'realtime',
      clock: systemClock,
    });
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/captions?call=${caller.callSid}`);
    const arrived: Arrived[] = [];
    let startedMs = 0;
    socket.on('message', (data: Buffer) => {
      const arrivedMs = systemClock.nowMs();
      const event = JSON.parse(data.toString()) as { type: string; final?: boolean; text: string; endMs: number };
      if (event.type === 'call.started') startedMs = arrivedMs;
      if (event.type === 'caption' && event.final) arrived.push({ text: event.text, endMs: event.endMs, arrivedMs });
    });
    await once(socket, 'open');
    const feed = await readFeed(url);
    await caller.run();
    await feed.until((event) => event.type === 'call.ended' && event.callId.includes(caller.callSid));
    feed.close();
    socket.close();
    return finalsOf(arrived, startedMs);
  },
};

interface DeepgramResults {
  readonly type: string;
  readonly is_final?: boolean;
  readonly start: number;
  readonly duration: number;
  readonly channel: { readonly alternatives: readonly { readonly transcript: string }[] };
}

/** `/v1/listen`, with the endpoint of calls. */
const DEEPGRAM: ListenEndpoint = {
  label: 'Deepgram, /v1/listen',
  async hear(url, audio) {
    const query = 'encoding=mulaw&sample_rate=8000&interim_results=true&punctuate=true';
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/listen?${query}`);
    const arrived: Arrived[] = [];
    socket.on('message', (data: Buffer) => {
      const { type, is_final, start, duration, channel } = JSON.parse(data.toString()) as DeepgramResults;
      const text = type === 'Results' ? (channel.alternatives[0]?.transcript ?? '') : '';
      if (is_final && text !== '')
        arrived.push({ text, endMs: (start + duration) * 1000, arrivedMs: systemClock.nowMs() });
    });
    await once(socket, 'open');
    const startedMs = await pace(audio, (frame) => socket.send(frame));
    socket.send('{"type":"CloseStream"}');
    await once(socket, 'close');
    return finalsOf(arrived, startedMs);
  },
};

const { ENDPOINT_MS } = readSettings({});

interface RealtimeEvent {
  readonly type: string;
  readonly item_id: string;
  readonly audio_end_ms: number;
  readonly transcript: string;
}

/** `/v1/realtime`, with the endpoint of calls. */
const REALTIME: ListenEndpoint = {
  label: 'OpenAI Realtime, /v1/realtime',
  async hear(url, audio) {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/realtime?intent=transcription`);
    const send = (event: object): void => socket.send(JSON.stringify(event));
    const arrived: Arrived[] = [];
    const ends = new Map<string, number>();
    let waiting = 0;
    let isCommitted = false;
    socket.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString()) as RealtimeEvent;
      if (event.type === 'input_audio_buffer.committed') waiting++;
      if (event.type === 'input_audio_buffer.speech_stopped') ends.set(event.item_id, event.audio_end_ms);
      if (!event.type.endsWith('transcription.completed')) return;
      const endMs = ends.get(event.item_id);
      if (endMs !== undefined && event.transcript !== '')
        arrived.push({ text: event.transcript, endMs, arrivedMs: systemClock.nowMs() });
      waiting--;
      if (isCommitted && waiting === 0) socket.close();
    });
    await once(socket, 'open');
    const input = {
      format: { type: 'audio/pcmu' },
      turn_detection: { type: 'server_vad', silence_duration_ms: ENDPOINT_MS },
    };
    send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
    const startedMs = await pace(audio, (frame) =>
      send({ type: 'input_audio_buffer.append', audio: Buffer.from(frame).toString('base64') }),
    );
    // It is always answered with an item, behind all others.
    isCommitted = true;
    send({ type: 'input_audio_buffer.commit' });
    await once(socket, 'close');
    return finalsOf(arrived, startedMs);
  },
};

/** In the order of the table; the first is what the others are compared with. */
export const LISTEN_ENDPOINTS: readonly ListenEndpoint[] = [TWILIO, DEEPGRAM, REALTIME];
