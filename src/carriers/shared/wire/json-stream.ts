/**
 * The protocol that carriers share which stream like Twilio. A socket is one stream. Every text message is one JSON
 * object, and `event` names it: start, then media in base64, keys and marks, and perhaps a stop. Each carrier's file
 * describes its field names ({@link StreamTerms}).
 */
import { TrunklineError } from '../../../foundation/errors.ts';
import { decodeBase64, encodeBase64 } from '../../../protocols/base64.ts';
import { swapByteOrder } from '../../../protocols/codecs.ts';
import type {
  CallStart,
  CarrierCommand,
  CarrierEvent,
  Dialect,
  Track,
  WireMessage,
} from '../../../protocols/dialect.ts';
import {
  countAt,
  identifierAt,
  type Json,
  malformed,
  objectAt,
  parseMessage,
  readDigit,
  readTrack,
} from '../../../protocols/json.ts';

/** How one carrier's messages differ. */
export interface StreamTerms {
  readonly carrier: string;
  /** The names of the event that reports a reached mark; default `mark`. */
  readonly markEvents?: readonly string[];
  /** The fields that may name a message's stream. Not every message has one. */
  readonly streamFields: readonly string[];
  /** Media may come without `timestamp` and `chunk`. Then the arrival gives the time, and we count the chunks. */
  readonly mediaUntimed?: boolean;
  /** Media timestamps count from 1970 instead of from the beginning of the stream. */
  readonly wallTimestamps?: boolean;
  /** Linear samples are sent with the high byte first. */
  readonly bigEndian?: boolean;
  /**
   * The stream that a start message describes. Throws errors of the registry's section "A carrier's messages".
   */
  readStart(message: Json): CallStart;
  /** The name of the mark in a message that reports a reached mark. */
  readMark(message: Json): unknown;
  /** The name under which an event that we do not use is counted; null = unknown event. */
  nameOther(event: string, message: Json): string | null;
  /** Messages to the carrier: `payload` is base64, `name` is the mark's name. */
  writeAudio(payload: string, start: CallStart): string;
  writeMark(name: string, start: CallStart): string;
  writeClear(start: CallStart): string;
}

function ignored(what: string): CarrierEvent {
  return { type: 'ignored', what };
}

/** One stream of a carrier with these terms. */
export class JsonStream implements Dialect {
  readonly carrier: string;
  readonly #terms: StreamTerms;
  readonly #markEvents: readonly string[];
  #start: CallStart | null = null;
  #swapped = false;
  #stopped = false;
  /** The first media timestamp. */
  #zeroMs: number | null = null;
  /** The number of each track's latest chunk. */
  readonly #chunks: Record<Track, number> = { inbound: 0, outbound: 0 };

  constructor(terms: StreamTerms) {
    this.carrier = terms.carrier;
    this.#terms = terms;
    this.#markEvents = terms.markEvents ?? ['mark'];
  }

  /** One text message in, one event out. Throws errors of the registry's section "A carrier's messages". */
  receive(message: WireMessage): CarrierEvent {
    const json = parseMessage(message);
    if (this.#stopped) return ignored('after_stop');
    const event = json['event'];
    switch (event) {
      case 'media':
        return this.#receiveMedia(json);
      case 'start':
        return this.#receiveStart(json);
      case 'dtmf':
      case 'stop':
        return this.#receiveStarted(json, event);
      default:
        if (typeof event !== 'string') throw malformed('event', event, 'a string');
        if (this.#markEvents.includes(event)) return this.#receiveStarted(json, event);
        return ignored(this.#terms.nameOther(event, json) ?? 'unknown_event');
    }
  }

  /**
   * Formats audio, a mark or a clear for the carrier. Throws `invalid_request` before `start`, and for a stream that
   * only listens.
   */
  format(command: CarrierCommand): string {
    if (this.#start === null)
      throw new TrunklineError('invalid_request', 'nothing can be sent before start: the stream has no identifier yet');
    if (this.#start.playback === 'none')
      throw new TrunklineError('invalid_request', 'this stream only listens: its tracks include outbound');
    if (command.type === 'audio') return this.#terms.writeAudio(encodeBase64(this.#turned(command.bytes)), this.#start);
    if (command.type === 'mark') return this.#terms.writeMark(command.name, this.#start);
    return this.#terms.writeClear(this.#start);
  }

  #receiveStart(json: Json): CarrierEvent {
    if (this.#start !== null) throw new TrunklineError('start_repeated', 'got a second start, expected one per stream');
    this.#start = this.#terms.readStart(json);
    this.#swapped = this.#terms.bigEndian === true && this.#start.codec.name === 'pcm16';
    return { type: 'start', start: this.#start };
  }

  #receiveStarted(json: Json, event: string): CarrierEvent {
    if (this.#start === null) return ignored('before_start');
    if (this.#isForeign(json, this.#start)) return ignored('foreign_stream');
    if (event === 'dtmf') return this.#receiveDtmf(objectAt(json, 'dtmf'));
    if (event !== 'stop') return this.#receiveMark(json);
    this.#stopped = true;
    return { type: 'stop' };
  }

  #isForeign(json: Json, start: CallStart): boolean {
    const field = this.#terms.streamFields.find((each) => json[each] !== undefined);
    if (field === undefined || start.streamId === start.callId) return false;
    return identifierAt(json, field) !== start.streamId;
  }

  #receiveMedia(json: Json): CarrierEvent {
    if (this.#start === null) throw new TrunklineError('media_before_start', 'got media, expected start first');
    if (this.#isForeign(json, this.#start)) return ignored('foreign_stream');
    const media = objectAt(json, 'media');
    const track = mediaTrack(media, this.#start);
    const atMs = this.#sinceStart(media);
    const sequence = this.#sequenceOf(media, track);
    const payload = media['payload'];
    const bytes = typeof payload === 'string' ? decodeBase64(payload) : null;
    if (bytes === null)
      throw malformed(
        'media.payload',
        typeof payload === 'string' ? `${payload.length} characters` : payload,
        'padded base64',
      );
    if (!this.#start.tracks.includes(track)) return ignored('unannounced_track');
    return { type: 'audio', track, bytes: this.#turned(bytes), atMs, sequence };
  }

  /** Null = the message has no timestamp. */
  #sinceStart(media: Json): number | null {
    if (media['timestamp'] === undefined && this.#terms.mediaUntimed === true) return null;
    const timestampMs = countAt(media, 'timestamp', 'media.timestamp');
    if (this.#terms.wallTimestamps !== true) return timestampMs;
    this.#zeroMs ??= timestampMs;
    return Math.max(timestampMs - this.#zeroMs, 0);
  }

  #sequenceOf(media: Json, track: Track): number {
    const counted = this.#chunks[track] + 1;
    const absent = media['chunk'] === undefined && this.#terms.mediaUntimed === true;
    const sequence = absent ? counted : countAt(media, 'chunk', 'media.chunk');
    this.#chunks[track] = sequence;
    return sequence;
  }

  #turned(bytes: Uint8Array): Uint8Array {
    return this.#swapped ? swapByteOrder(bytes) : bytes;
  }

  #receiveDtmf(dtmf: Json): CarrierEvent {
    const track = dtmf['track'] === undefined ? 'inbound' : readTrack(dtmf['track'], 'dtmf.track');
    return { type: 'dtmf', track, digit: readDigit(dtmf['digit'], 'dtmf.digit') };
  }

  #receiveMark(json: Json): CarrierEvent {
    const name = this.#terms.readMark(json);
    if (typeof name !== 'string') throw malformed('mark.name', name, 'a string');
    return { type: 'mark', name };
  }
}

/** A stream with one track may leave out the track's name. */
function mediaTrack(media: Json, { tracks }: CallStart): Track {
  const [only] = tracks;
  if (media['track'] === undefined && tracks.length === 1 && only !== undefined) return only;
  return readTrack(media['track'], 'media.track');
}

/** {@link twilioSpelling}. */
type TwilioSpelling = Pick<StreamTerms, 'streamFields' | 'readMark' | 'writeMark' | 'writeClear'> & {
  /** `counts` = more members of `media`, as JSON. */
  writeAudio(payload: string, start: CallStart, counts?: string): string;
};

/**
 * The marks and outgoing messages that most carriers copied from Twilio. `key` is the field that names the stream.
 */
export function twilioSpelling(key: string): TwilioSpelling {
  return {
    streamFields: [key],
    readMark: (message) => objectAt(message, 'mark')['name'],
    writeAudio: (payload, { streamId }, counts = '') => {
      const more = counts === '' ? '' : `,${counts}`;
      return `{"event":"media","${key}":${JSON.stringify(streamId)},"media":{"payload":"${payload}"${more}}}`;
    },
    writeMark: (name, { streamId }) => JSON.stringify({ event: 'mark', [key]: streamId, mark: { name } }),
    writeClear: ({ streamId }) => JSON.stringify({ event: 'clear', [key]: streamId }),
  };
}
