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
/** A transcript fits in. */
const BUFFER_BYTES = 1024;

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

/** The line that an event begins with. */
interface Head {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly dataBytes: number;
  readonly payloadBytes: number;
}

/** Finds the events in what a server sends, however it is cut. Takes time in proportion to what is sent. */
export class WyomingReader {
  /** Grows to twice its size, so that little pieces are not copied again and again. */
  #buffer: Buffer = Buffer.alloc(BUFFER_BYTES);
  #begin = 0;
  #end = 0;
  /** Bytes after `#begin` in which there is no newline. */
  #searched = 0;
  /** Of the event that is not complete; null = its line is not. */
  #head: Head | null = null;

  /** The events that `bytes` completes. @throws WyomingError; then nothing more can be read */
  read(bytes: Uint8Array): WyomingEvent[] {
    this.#append(bytes);
    const events: WyomingEvent[] = [];
    for (let found = this.#next(); found !== null; found = this.#next()) events.push(found);
    return events;
  }

  #append(bytes: Uint8Array): void {
    const kept = this.#end - this.#begin;
    if (this.#end + bytes.length > this.#buffer.length) {
      const size = Math.max(this.#buffer.length, 2 * (kept + bytes.length));
      const buffer = Buffer.allocUnsafe(size);
      this.#buffer.copy(buffer, 0, this.#begin, this.#end);
      this.#buffer = buffer;
      this.#begin = 0;
      this.#end = kept;
    }
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  #next(): WyomingEvent | null {
    this.#head ??= this.#takeHead();
    if (this.#head === null) return null;
    const { type, data, dataBytes, payloadBytes } = this.#head;
    if (this.#end - this.#begin < dataBytes + payloadBytes) return null;
    const more = dataBytes === 0 ? {} : readObject(this.#buffer.subarray(this.#begin, this.#begin + dataBytes));
    this.#begin += dataBytes + payloadBytes;
    this.#head = null;
    return { type, data: { ...data, ...more } };
  }

  #takeHead(): Head | null {
    const line = this.#buffer.subarray(this.#begin, this.#end);
    const end = line.indexOf(NEWLINE, this.#searched);
    if (end > PART_MAX_BYTES || (end < 0 && line.length > PART_MAX_BYTES))
      throw new WyomingError('it sent a line that is too long');
    this.#searched = end < 0 ? line.length : 0;
    if (end < 0) return null;
    const head = readObject(line.subarray(0, end));
    const { type, data } = head;
    if (typeof type !== 'string') throw new WyomingError('it sent an event without a type');
    this.#begin += end + 1;
    return {
      type,
      data: isObject(data) ? data : {},
      dataBytes: lengthOf(head['data_length']),
      payloadBytes: lengthOf(head['payload_length']),
    };
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
