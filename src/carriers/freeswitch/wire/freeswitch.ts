/**
 * FreeSWITCH's modules that stream a channel over WebSocket: mod_audio_fork
 * (https://github.com/drachtio/drachtio-freeswitch-modules, and with sound back
 * https://github.com/jambonz/freeswitch-modules) and mod_audio_stream (https://github.com/amigniter/mod_audio_stream).
 * Sound comes as binary messages of any length: linear samples, little-endian, of two parties interleaved with the
 * caller first. Nothing names rate, channels or call: the URL must tell the first two, and a text that the command
 * `start` may send first, the metadata, the third. What `send_text` sends is any text.
 *
 * There are three ways back. `binary` messages of samples are mixed into what the caller hears at once; marks are left
 * out, as a `killAudio` makes the module swallow as many later marks as it has cleared. `playAudio` and `streamAudio`
 * are files of whole sentences that the module writes and reports as an event; whoever plays them says when they were
 * played.
 */

import { TrunklineError } from '../../../foundation/errors.ts';
import { encodeBase64 } from '../../../protocols/base64.ts';
import { readCodec } from '../../../protocols/codecs.ts';
import type {
  CallStart,
  CarrierCommand,
  CarrierEvent,
  CarrierSignal,
  Dialect,
  TranscribedCaption,
  WireMessage,
} from '../../../protocols/dialect.ts';
import { isIdentifier, isObject, type Json, readDigit } from '../../../protocols/json.ts';
import type { FreeSwitchQuery } from './query.ts';

/** Members of the metadata that may name the call; the first one present counts. */
const CALL_NAMES = ['callId', 'uuid', 'callSid', 'callid', 'call_id'];
const SAMPLE_BYTES = 2;
const CHANNELS = 2;
/** mod_audio_fork drops texts beyond 665600 bytes: that is fifteen seconds at 16 kHz. */
const FILE_MAX_SECONDS = 10;

function ignored(what: string): CarrierEvent {
  return { type: 'ignored', what };
}

function parse(text: string): Json | null {
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : null;
  } catch {
    return null;
  }
}

/** The members of the metadata that are words or numbers; a text that is no JSON is one parameter. */
function parametersOf(metadata: string | null): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = Object.create(null);
  if (metadata === null) return parameters;
  const json = parse(metadata);
  if (json === null) parameters['metadata'] = metadata;
  for (const [name, value] of Object.entries(json ?? {}))
    if (typeof value === 'string' || typeof value === 'number') parameters[name] = String(value);
  return parameters;
}

/** One stream of FreeSWITCH. */
export class FreeSwitchDialect implements Dialect {
  readonly carrier = 'freeswitch';
  readonly #streamId: string;
  readonly #rateHz: number;
  readonly #mix: NonNullable<FreeSwitchQuery['mix']>;
  readonly #play: NonNullable<FreeSwitchQuery['play']>;
  #start: CallStart | null = null;
  #sequence = 0;
  /** Bytes of samples of two parties that a message left incomplete. */
  #rest: Uint8Array = new Uint8Array(0);
  /** Sound of the sentence that is to become a file. */
  #unsent: Uint8Array[] = [];
  #unsentBytes = 0;

  /**
   * `streamId` names the stream, and also the call if the metadata do not.
   * @throws TrunklineError `invalid_request` where sound is to go back into a stream of both parties
   */
  constructor({
    streamId,
    rate = '8000',
    mix = 'mono',
    play = 'none',
  }: FreeSwitchQuery & { readonly streamId: string }) {
    if (play !== 'none' && mix !== 'mono')
      throw new TrunklineError(
        'invalid_request',
        `got play=${play} with mix=${mix}, expected mix=mono: what we say would come back as the other party`,
      );
    this.#streamId = streamId;
    this.#rateHz = rate.startsWith('8') ? 8000 : 16_000;
    this.#mix = mix;
    this.#play = play;
  }

  /** The first message begins the call, also where it is sound: then there are no metadata. */
  receive(message: WireMessage): CarrierEvent | readonly CarrierEvent[] {
    if (this.#start === null) {
      const start = this.#begin(typeof message === 'string' ? message : null);
      return typeof message === 'string' ? start : [start, ...this.#receiveSound(message)];
    }
    return typeof message === 'string' ? receiveText(message) : this.#receiveSound(message);
  }

  /** @throws TrunklineError `invalid_request` before the first message, and where no sound can go back */
  format(command: CarrierCommand): readonly WireMessage[] {
    if (this.#start === null)
      throw new TrunklineError('invalid_request', 'nothing can be sent before the first message');
    if (this.#play === 'none')
      throw new TrunklineError(
        'invalid_request',
        'this stream only listens: its URL has no play=binary or other way back',
      );
    if (command.type === 'clear') return this.#clear();
    if (this.#play === 'binary') return command.type === 'audio' ? [command.bytes] : [];
    if (command.type === 'mark') return [this.#file(command.name)];
    const isFull = this.#unsentBytes + command.bytes.length > FILE_MAX_SECONDS * this.#rateHz * SAMPLE_BYTES;
    const full = isFull ? [this.#file(null)] : [];
    this.#unsent.push(command.bytes);
    this.#unsentBytes += command.bytes.length;
    return full;
  }

  /** FreeSWITCH is told that we end the call; mod_audio_fork makes an event of it. */
  signal(signal: CarrierSignal): WireMessage | null {
    return signal === 'hangup' ? '{"type":"disconnect"}' : null;
  }

  /** An event of mod_audio_fork; of mod_audio_stream all texts are. */
  transcript({ track, text, startMs, endMs, confidence, language }: TranscribedCaption): WireMessage {
    return JSON.stringify({ type: 'transcription', data: { track, text, startMs, endMs, confidence, language } });
  }

  #begin(metadata: string | null): CarrierEvent {
    const parameters = parametersOf(metadata);
    this.#start = {
      carrier: 'freeswitch',
      callId: CALL_NAMES.map((name) => parameters[name]).find(isIdentifier) ?? this.#streamId,
      streamId: this.#streamId,
      from: parameters['from'] || null,
      to: parameters['to'] || null,
      tracks: this.#mix === 'stereo' ? ['inbound', 'outbound'] : ['inbound'],
      codec: readCodec({ encoding: 'L16', rate: this.#rateHz }, ['L16'], 'rate'),
      ...this.#playback(),
      parameters,
    };
    return { type: 'start', start: this.#start };
  }

  #playback(): Pick<CallStart, 'playback' | 'wholeSounds'> {
    if (this.#play === 'none') return { playback: 'none' };
    return this.#play === 'binary' ? { playback: 'paced' } : { playback: 'buffered', wholeSounds: true };
  }

  #receiveSound(bytes: Uint8Array): readonly CarrierEvent[] {
    // mod_audio_fork says with an empty message that it is about to end.
    if (bytes.length === 0) return [ignored('empty_audio')];
    if (this.#mix !== 'stereo') return [this.#sound('inbound', bytes, ++this.#sequence)];
    const whole = Buffer.concat([this.#rest, bytes]);
    const frames = Math.floor(whole.length / (CHANNELS * SAMPLE_BYTES));
    this.#rest = whole.subarray(frames * CHANNELS * SAMPLE_BYTES);
    if (frames === 0) return [ignored('part_of_sample')];
    const [caller, other] = separate(whole, frames);
    const sequence = ++this.#sequence;
    return [this.#sound('inbound', caller, sequence), this.#sound('outbound', other, sequence)];
  }

  #sound(track: 'inbound' | 'outbound', bytes: Uint8Array, sequence: number): CarrierEvent {
    return { type: 'audio', track, bytes, atMs: null, sequence };
  }

  #clear(): readonly WireMessage[] {
    this.#unsent = [];
    this.#unsentBytes = 0;
    return ['{"type":"killAudio"}'];
  }

  /** `id` = the mark of the sentence that ends with it; null = the sentence goes on. */
  #file(id: string | null): string {
    const sound = encodeBase64(Buffer.concat(this.#unsent));
    this.#unsent = [];
    this.#unsentBytes = 0;
    const named = id === null ? {} : { id };
    const data =
      this.#play === 'playAudio'
        ? { audioContentType: 'raw', sampleRate: this.#rateHz, queuePlay: true, ...named, audioContent: sound }
        : { audioDataType: 'raw', sampleRate: this.#rateHz, ...named, audioData: sound };
    return JSON.stringify({ type: this.#play, data });
  }
}

/** The samples of two parties, of which each has `frames`. */
function separate(interleaved: Buffer, frames: number): readonly [Uint8Array, Uint8Array] {
  const parts = [Buffer.alloc(frames * SAMPLE_BYTES), Buffer.alloc(frames * SAMPLE_BYTES)] as const;
  for (let frame = 0; frame < frames; frame++)
    for (const [channel, part] of parts.entries())
      part.writeInt16LE(interleaved.readInt16LE((frame * CHANNELS + channel) * SAMPLE_BYTES), frame * SAMPLE_BYTES);
  return parts;
}

/** A key, in the words of jambonz or plainer ones; or that a file was played. Other texts are the operator's. */
function receiveText(text: string): CarrierEvent {
  const json = parse(text);
  if (json?.['event'] === 'dtmf')
    return { type: 'dtmf', track: 'inbound', digit: readDigit(json['dtmf'] ?? json['digit'], 'dtmf') };
  const data = json?.['data'];
  const id = json?.['type'] === 'playDone' && isObject(data) ? data['id'] : undefined;
  return typeof id === 'string' ? { type: 'mark', name: id } : ignored('text');
}
