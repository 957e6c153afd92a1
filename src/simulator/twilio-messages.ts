/**
 * The messages of Twilio Media Streams from Twilio's side: what it says, and how it understands what a server says.
 * Written from https://www.twilio.com/docs/voice/media-streams/websocket-messages and apart from our own dialect, so
 * that one can test the other.
 */

import { MULAW_8K } from '../foundation/units.ts';
import type { Track } from '../protocols/dialect.ts';

const ACCOUNT_SID = `AC${'0'.repeat(32)}`;

/** Who and what a stream is. */
export interface StreamIdentity {
  readonly callSid: string;
  readonly streamSid: string;
  readonly tracks: readonly Track[];
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Writes the messages of one stream and counts them, lost ones included: `sequenceNumber` runs from 1 over all but
 * `connected`.
 */
export class TwilioWriter {
  readonly #stream: StreamIdentity;
  readonly #chunks = new Map<Track, number>();
  #sequence = 0;

  constructor(stream: StreamIdentity) {
    this.#stream = stream;
  }

  connected(): string {
    return JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  }

  start(): string {
    const { callSid, streamSid, tracks, parameters } = this.#stream;
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: MULAW_8K.rateHz, channels: MULAW_8K.channels };
    const start = { streamSid, accountSid: ACCOUNT_SID, callSid, tracks, customParameters: parameters, mediaFormat };
    return this.#write('start', { start });
  }

  /** `payload` in µ-law; `atMs` = its first sample since the stream began. */
  media(track: Track, payload: Uint8Array, atMs: number): string {
    const chunk = (this.#chunks.get(track) ?? 0) + 1;
    this.#chunks.set(track, chunk);
    const base64 = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('base64');
    return this.#write('media', {
      media: { track, chunk: String(chunk), timestamp: String(Math.round(atMs)), payload: base64 },
    });
  }

  dtmf(digit: string): string {
    return this.#write('dtmf', { dtmf: { track: 'inbound_track', digit } });
  }

  mark(name: string): string {
    return this.#write('mark', { mark: { name } });
  }

  stop(): string {
    return this.#write('stop', { stop: { accountSid: ACCOUNT_SID, callSid: this.#stream.callSid } });
  }

  #write(event: string, body: Record<string, unknown>): string {
    this.#sequence += 1;
    return JSON.stringify({
      event,
      sequenceNumber: String(this.#sequence),
      ...body,
      streamSid: this.#stream.streamSid,
    });
  }
}

/**
 * What a server said. `warning` is the code that Twilio's debugger would show: 31924 protocol violation, 31951 message
 * of a wrong shape.
 */
export type ServerMessage =
  | { readonly type: 'media'; readonly payload: Uint8Array }
  | { readonly type: 'mark'; readonly name: string }
  | { readonly type: 'clear' }
  | { readonly type: 'warning'; readonly code: 31924 | 31951; readonly what: string };

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Understands one message of a server as Twilio does: whatever is wrong is a warning and has no effect. */
export function readServerMessage(data: Buffer, isBinary: boolean, stream: StreamIdentity): ServerMessage {
  if (isBinary) return { type: 'warning', code: 31924, what: 'a binary message' };
  if (stream.tracks.includes('outbound')) return warn('a message on a unidirectional stream');
  const message = parseObject(data.toString());
  if (message === null) return warn('a message that is no JSON object');
  if (message['streamSid'] !== stream.streamSid) return warn('a message with another streamSid');
  switch (message['event']) {
    case 'clear':
      return { type: 'clear' };
    case 'mark': {
      const name = field(message['mark'], 'name');
      return typeof name === 'string' ? { type: 'mark', name } : warn('a mark without a name');
    }
    case 'media': {
      const payload = field(message['media'], 'payload');
      if (typeof payload !== 'string' || !BASE64.test(payload)) return warn('media without a base64 payload');
      return { type: 'media', payload: Buffer.from(payload, 'base64') };
    }
    default:
      return warn('an unknown event');
  }
}

function warn(what: string): ServerMessage {
  return { type: 'warning', code: 31951, what };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
