/**
 * What each carrier's side of a stream says and understands, written from the carriers' documents and apart from our
 * dialects, so that one tests the other. A caller of any of them is a {@link CarrierCaller} with one of these.
 */

import { type Codec, MULAW_8K } from '../../src/foundation/units.ts';
import type { WireMessage } from '../../src/protocols/dialect.ts';

/** What a bridge said. */
export type BridgeWord =
  | { readonly type: 'audio'; readonly bytes: Uint8Array }
  | { readonly type: 'mark'; readonly name: string }
  | { readonly type: 'clear' };

/** One carrier. */
export interface CarrierLine {
  readonly carrier: string;
  /** The name of its call in the feed; null = the bridge names it. */
  readonly callId: string | null;
  readonly codec: Codec;
  /** Sound in one message of its. */
  readonly chunkMs: number;
  /** What it says first; `parameters` as an operator would give them. */
  start(parameters: Readonly<Record<string, string>>): WireMessage[];
  /** Chunk `n` (from 1), which begins at `atMs`. */
  media(bytes: Uint8Array, n: number, atMs: number): WireMessage;
  dtmf(digit: string): WireMessage;
  mark(name: string): WireMessage;
  /** What it says when it was cleared; `marks` were still to come. */
  cleared(marks: readonly string[]): WireMessage[];
  /** Its last words before it closes. */
  stop(): WireMessage[];
  /** Understands a bridge as the documents say; throws for what the carrier would not take. */
  read(message: WireMessage): BridgeWord;
}

const linear = (rateHz: number): Codec => ({ name: 'pcm16', rateHz, channels: 1, bytesPerSample: 2 });
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

interface Said {
  readonly event?: string;
  readonly action?: string;
  readonly name?: string;
  readonly media?: { readonly payload: string; readonly contentType?: string; readonly sampleRate?: number };
  readonly mark?: { readonly name: string };
  readonly payload?: unknown;
  readonly [stream: string]: unknown;
}

function parse(message: WireMessage): Said {
  if (typeof message !== 'string') throw new Error('a binary message');
  return JSON.parse(message) as Said;
}

/** `{event: 'media', <key>: stream, media: {payload}}` and its like. */
function readTwilioLike(message: WireMessage, key: string, stream: string): BridgeWord {
  const said = parse(message);
  if (said[key] !== stream) throw new Error(`another stream: ${String(said[key])}`);
  if (said.event === 'media' && said.media !== undefined)
    return { type: 'audio', bytes: Buffer.from(said.media.payload, 'base64') };
  if (said.event === 'mark' && said.mark !== undefined) return { type: 'mark', name: said.mark.name };
  if (said.event === 'clear') return { type: 'clear' };
  throw new Error(`not understood: ${message}`);
}

/** Telnyx: marks come back when they are cleared, and nothing says which tracks come. */
const telnyx: CarrierLine = (() => {
  const stream_id = '32de0dea-53cb-4b21-89a4-9e1819c043bc';
  const callId = 'v3:call';
  const say = (event: string, rest: object) => JSON.stringify({ event, sequence_number: '1', stream_id, ...rest });
  const mark = (name: string) => say('mark', { mark: { name } });
  return {
    carrier: 'telnyx',
    callId,
    codec: MULAW_8K,
    chunkMs: 20,
    mark,
    start: (custom_parameters) => [
      JSON.stringify({ event: 'connected', version: '1.0.0' }),
      say('start', {
        start: {
          user_id: 'user',
          call_control_id: callId,
          call_session_id: 'session',
          from: '+15005550006',
          to: '+15005550001',
          media_format: { encoding: 'PCMU', sample_rate: 8000, channels: 1 },
          custom_parameters,
        },
      }),
    ],
    media: (bytes, n, atMs) =>
      say('media', { media: { track: 'inbound', chunk: String(n), timestamp: String(atMs), payload: base64(bytes) } }),
    dtmf: (digit) => say('dtmf', { occurred_at: '2026-01-01T00:00:00.000Z', dtmf: { digit } }),
    cleared: (marks) => marks.map(mark),
    stop: () => [say('stop', { stop: { user_id: 'user', call_control_id: callId } })],
    read: (message) => {
      const word = readTwilioLike(message, 'stream_id', stream_id);
      if (word.type === 'audio' && word.bytes.length < 160) throw new Error('less than 20 ms');
      return word;
    },
  };
})();

/** SignalWire: linear PCM at 16 kHz; its media do not name their stream. */
const signalwire: CarrierLine = (() => {
  const streamSid = '7d56cc11-536d-4a45-b4fb-ed3d55be843b';
  const callSid = '76ac3c36-56da-4a3e-a0d6-b5f8df6da9ad';
  const mark = (name: string) => JSON.stringify({ event: 'mark', streamSid, mark: { name } });
  return {
    carrier: 'signalwire',
    callId: callSid,
    codec: linear(16_000),
    chunkMs: 20,
    mark,
    start: (customParameters) => [
      JSON.stringify({ event: 'connected', protocol: 'Call', version: '0.2.0' }),
      JSON.stringify({
        event: 'start',
        sequenceNumber: '1',
        start: {
          streamSid,
          accountSid: 'account',
          callSid,
          tracks: ['inbound'],
          customParameters,
          mediaFormat: { encoding: 'audio/x-L16', sampleRate: 16_000, channels: 1 },
        },
      }),
    ],
    media: (bytes, n, atMs) =>
      JSON.stringify({
        event: 'media',
        media: { track: 'inbound', chunk: String(n), timestamp: String(atMs), payload: base64(bytes) },
      }),
    dtmf: (digit) => JSON.stringify({ event: 'dtmf', streamSid, dtmf: { digit, duration: 200 } }),
    cleared: (marks) => marks.map(mark),
    stop: () => [JSON.stringify({ event: 'stop', sequenceNumber: '999' })],
    read: (message) => readTwilioLike(message, 'streamSid', streamSid),
  };
})();

/** Plivo: times since 1970, checkpoints, an answer to a clear in place of the marks, and no stop. */
const plivo: CarrierLine = (() => {
  const streamId = '20170ada-f610-433b-8758-c02a2aab3662';
  const callId = '12345678-1234-1234-1234-123456789abc';
  const BEGAN_MS = 1_705_312_200_000;
  return {
    carrier: 'plivo',
    callId,
    codec: MULAW_8K,
    chunkMs: 20,
    start: (parameters) => [
      JSON.stringify({
        event: 'start',
        sequenceNumber: 1,
        start: {
          callId,
          streamId,
          accountId: 'MA',
          tracks: ['inbound'],
          mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 },
        },
        extra_headers: Object.entries(parameters)
          .map(([name, value]) => `${name}=${value}`)
          .join(';'),
      }),
    ],
    media: (bytes, n, atMs) =>
      JSON.stringify({
        event: 'media',
        sequenceNumber: n + 1,
        streamId,
        media: { track: 'inbound', timestamp: String(BEGAN_MS + atMs), chunk: n, payload: base64(bytes) },
      }),
    dtmf: (digit) => JSON.stringify({ event: 'dtmf', streamId, dtmf: { track: 'inbound', digit, timestamp: '0' } }),
    mark: (name) => JSON.stringify({ event: 'playedStream', streamId, name }),
    cleared: () => [JSON.stringify({ event: 'clearedAudio', streamId })],
    stop: () => [],
    read(message) {
      const { event, media, name, ...said } = parse(message);
      if (event === 'playAudio' && media?.contentType === 'audio/x-mulaw' && media.sampleRate === 8000) {
        return { type: 'audio', bytes: Buffer.from(media.payload, 'base64') };
      }
      if (said['streamId'] !== streamId) throw new Error('another stream');
      if (event === 'checkpoint' && name !== undefined) return { type: 'mark', name };
      if (event === 'clearAudio') return { type: 'clear' };
      throw new Error(`not understood: ${message}`);
    },
  };
})();

/** Vonage: binary both ways, exactly 20 ms a message; a clear is answered and no notification comes after it. */
const vonage: CarrierLine = (() => {
  const codec = linear(16_000);
  return {
    carrier: 'vonage',
    callId: 'uuid-1',
    codec,
    chunkMs: 20,
    start: (headers) => [
      JSON.stringify({
        event: 'websocket:connected',
        'content-type': 'audio/l16;rate=16000',
        uuid: 'uuid-1',
        ...headers,
      }),
    ],
    media: (bytes) => bytes,
    dtmf: (digit) => JSON.stringify({ event: 'websocket:dtmf', digit, duration: 260 }),
    mark: (name) => JSON.stringify({ event: 'websocket:notify', payload: { name } }),
    cleared: () => [JSON.stringify({ event: 'websocket:cleared' })],
    stop: () => [],
    read(message) {
      if (typeof message !== 'string') {
        if (message.length !== 640) throw new Error(`${message.length} bytes, expected a frame of 640`);
        return { type: 'audio', bytes: message };
      }
      const { action, payload } = parse(message);
      if (action === 'clear') return { type: 'clear' };
      if (action === 'notify') return { type: 'mark', name: (payload as { name: string }).name };
      throw new Error(`not understood: ${message}`);
    },
  };
})();

/** Exotel: linear PCM, 100 ms a message, nothing shorter than 3200 bytes taken; cleared marks do not come back. */
const exotel: CarrierLine = (() => {
  const stream_sid = 'stream-1';
  const call_sid = 'call-1';
  const say = (event: string, rest: object) => JSON.stringify({ event, stream_sid, sequence_number: '1', ...rest });
  return {
    carrier: 'exotel',
    callId: call_sid,
    codec: linear(8000),
    chunkMs: 100,
    start: (custom_parameters) => [
      JSON.stringify({ event: 'connected' }),
      say('start', {
        start: {
          stream_sid,
          call_sid,
          account_sid: 'exotel',
          from: '+15005550006',
          to: '+15005550001',
          custom_parameters,
          media_format: { encoding: 'audio/x-raw', sample_rate: '8000', bit_rate: '128kbps' },
        },
      }),
    ],
    media: (bytes, n, atMs) =>
      say('media', { media: { chunk: String(n), timestamp: String(atMs), payload: base64(bytes) } }),
    dtmf: (digit) => say('dtmf', { dtmf: { digit, duration: '100' } }),
    mark: (name) => say('mark', { mark: { name } }),
    cleared: () => [],
    stop: () => [say('stop', { stop: { call_sid, account_sid: 'exotel', reason: 'callended' } })],
    read(message) {
      const word = readTwilioLike(message, 'stream_sid', stream_sid);
      if (word.type === 'audio' && (word.bytes.length < 3200 || word.bytes.length % 320 !== 0))
        throw new Error(`${word.bytes.length} bytes`);
      return word;
    },
  };
})();

export const CARRIER_LINES: readonly CarrierLine[] = [telnyx, signalwire, plivo, vonage, exotel];
