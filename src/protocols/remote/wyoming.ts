/**
 * Wyoming: events over TCP, each a line of JSON, then more JSON, then bytes: https://github.com/OHF-Voice/wyoming
 */
import { Buffer } from 'node:buffer';
import { readRemoteText } from './remote-text.ts';

const RATE_HZ = 16_000;
/** A quarter of a second: servers feed their models with one chunk after the other. */
const CHUNK_SAMPLES = 4000;

/** An event's line, its further data and its bytes are no longer, each: a transcript has a few hundred bytes. */
const PART_MAX_BYTES = 65_536;
const NEWLINE = 0x0a;

/** What a server tells. */
export interface WyomingEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a server sends is no Wyoming, or is too long. */
export class WyomingError extends Error {}

/** All that asks a server for the text of 16 kHz mono `samples`. `language`: absent = the server finds out. */
export function wyomingRequest(samples: Int16Array, language: string | undefined): Uint8Array {
  const format = { rate: RATE_HZ, width: 2, channels: 1 };
  const primary = language?.split('-', 1)[0]?.toLowerCase();
  const parts: Uint8Array[] = [
    event('transcribe', primary === undefined ? {} : { language: primary }),
    event('audio-start', format),
  ];
  for (let at = 0; at < samples.length; at += CHUNK_SAMPLES) {
    const chunk = samples.subarray(at, at + CHUNK_SAMPLES);
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    parts.push(event('audio-chunk', format, bytes.length), bytes);
  }
  parts.push(event('audio-stop', {}));
  return Buffer.concat(parts);
}

function event(type: string, data: object, payloadBytes = 0): Uint8Array {
  const payload = payloadBytes === 0 ? {} : { payload_length: payloadBytes };
  return Buffer.from(`${JSON.stringify({ type, data, ...payload })}\n`);
}

/** Finds the events in what a server sends, however it is cut. */
export class WyomingReader {
  #buffered: Buffer = Buffer.alloc(0);

  /** The events that `bytes` completes. @throws WyomingError; then nothing more can be read */
  read(bytes: Uint8Array): WyomingEvent[] {
    this.#buffered = Buffer.concat([this.#buffered, bytes]);
    const events: WyomingEvent[] = [];
    for (let found = this.#next(); found !== null; found = this.#next()) events.push(found);
    if (this.#buffered.length > 3 * PART_MAX_BYTES) throw new WyomingError('it sends events that never end');
    return events;
  }

  #next(): WyomingEvent | null {
    const end = this.#buffered.indexOf(NEWLINE);
    if (end > PART_MAX_BYTES || (end < 0 && this.#buffered.length > PART_MAX_BYTES))
      throw new WyomingError('it sent a line that is too long');
    if (end < 0) return null;
    const head = readObject(this.#buffered.subarray(0, end));
    const dataBytes = lengthOf(head['data_length']);
    const payloadBytes = lengthOf(head['payload_length']);
    const { type, data } = head;
    if (typeof type !== 'string') throw new WyomingError('it sent an event without a type');
    const dataEnd = end + 1 + dataBytes;
    if (this.#buffered.length < dataEnd + payloadBytes) return null;
    const more = dataBytes === 0 ? {} : readObject(this.#buffered.subarray(end + 1, dataEnd));
    this.#buffered = this.#buffered.subarray(dataEnd + payloadBytes);
    return { type, data: { ...(isObject(data) ? data : {}), ...more } };
  }
}

/** The text of a `transcript`; null = it is none. @param samples how many were sent */
export function readWyomingText({ data }: WyomingEvent, samples: number): string | null {
  return typeof data['text'] === 'string' ? readRemoteText(data['text'], samples) : null;
}

function readObject(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (isObject(value)) return value;
  } catch {
    // Told below.
  }
  throw new WyomingError('it sent what is no JSON object');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function lengthOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= PART_MAX_BYTES) return value;
  throw new WyomingError('it announced a part that is too long, or of no length');
}
