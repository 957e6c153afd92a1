/**
 * Asterisk's AudioSocket (https://docs.asterisk.org/Configuration/Channel-Drivers/AudioSocket/; where that is silent,
 * include/asterisk/res_audiosocket.h, res/res_audiosocket.c and the traffic of Asterisk 22.10). One TCP connection
 * carries messages with a kind, a length and a payload. Asterisk connects and identifies the call by a UUID. Audio in
 * both directions and keys follow, until the connection ends. Supports the application and the channel driver of every
 * release since 18.
 */
import { frameBytes } from '../../../audio/frames.ts';
import { pcm16ToSamples, samplesToPcm16 } from '../../../audio/pcm.ts';
import { Resampler } from '../../../audio/resample.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import type { Codec } from '../../../foundation/units.ts';
import { CompandingReader } from '../../../protocols/companding.ts';
import type { CallStart, CarrierCommand, CarrierEvent } from '../../../protocols/dialect.ts';

/** One byte of kind, two of length, big-endian. */
const HEADER_BYTES = 3;
const UUID_BYTES = 16;
/** Two bytes of length. */
const PAYLOAD_MAX_BYTES = 65_535;
const KIND = { hangup: 0x00, uuid: 0x01, silence: 0x02, dtmf: 0x03, error: 0xff } as const;
/** The kind whose payload may be companded: the channel driver uses it for `c(ulaw)` and `c(alaw)` too. */
const KIND_8K = 0x10;
/** The rate of each kind of linear PCM, little-endian: slin, slin12 … slin192. */
const RATES_HZ: ReadonlyMap<number, number> = new Map(
  [8000, 12_000, 16_000, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000].map((rateHz, index) => [
    KIND_8K + index,
    rateHz,
  ]),
);
const KINDS: ReadonlyMap<number, number> = new Map([...RATES_HZ].map(([kind, rateHz]) => [rateHz, kind]));
const DEFAULT_RATE_HZ = 8000;
const DIGIT = /^[0-9*#A-D]$/;

/** One message. */
export interface AudioSocketMessage {
  readonly kind: number;
  /** A view of the received bytes. */
  readonly payload: Uint8Array;
}

/**
 * Splits the bytes of a connection into messages, wherever TCP has split them. Keeps only the beginning of one
 * unfinished message.
 */
export class AudioSocketFramer {
  readonly #messageMaxBytes: number;
  #rest: Uint8Array = new Uint8Array(0);
  #isFirst = true;

  /** `messageMaxBytes` = the largest message that is accepted, including its header. */
  constructor(messageMaxBytes: number) {
    this.#messageMaxBytes = messageMaxBytes;
  }

  /** Whether the connection may end here, because no message is incomplete. */
  get isBetweenMessages(): boolean {
    return this.#rest.length === 0;
  }

  /**
   * Yields the messages that `bytes` complete, one at a time. Later bytes are read only when the next message is
   * requested.
   * @throws TrunklineError `message_too_large`; `message_malformed` when the first message does not name a call, even
   * before all of it has arrived
   */
  *push(bytes: Uint8Array): Generator<AudioSocketMessage> {
    let all = this.#rest.length === 0 ? bytes : joined(this.#rest, bytes);
    for (let size = this.#sizeOf(all); size !== null && all.length >= size; size = this.#sizeOf(all)) {
      const message = { kind: all[0] as number, payload: all.subarray(HEADER_BYTES, size) };
      all = all.subarray(size);
      this.#isFirst = false;
      this.#rest = all;
      yield message;
    }
    // A copy, because the received buffer may be large or may be reused.
    this.#rest = new Uint8Array(all);
  }

  /** The size of the first message in `bytes`, including its header; null = its header is incomplete. */
  #sizeOf(bytes: Uint8Array): number | null {
    const [kind, high, low] = bytes;
    if (this.#isFirst && kind !== undefined && kind !== KIND.uuid) throw notAudioSocket();
    if (high === undefined || low === undefined) return null;
    const size = HEADER_BYTES + high * 256 + low;
    if (this.#isFirst && size !== HEADER_BYTES + UUID_BYTES) throw notAudioSocket();
    if (size <= this.#messageMaxBytes) return size;
    throw new TrunklineError(
      'message_too_large',
      `got a message of ${size} bytes, expected at most ${this.#messageMaxBytes}`,
    );
  }
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

function notAudioSocket(): TrunklineError {
  return new TrunklineError(
    'message_malformed',
    'the connection did not begin with a call id (kind 1, 16 bytes), as AudioSocket does',
  );
}

/** 16 bytes → `8-4-4-4-12` hexadecimal digits in lower case (RFC 9562 §4). */
function formatUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A message as it is sent: header and payload in one piece, which Asterisk requires. */
function writeMessage(kind: number, payload: Uint8Array): Uint8Array {
  const message = new Uint8Array(HEADER_BYTES + payload.length);
  message[0] = kind;
  message[1] = payload.length >> 8;
  message[2] = payload.length & 0xff;
  message.set(payload, HEADER_BYTES);
  return message;
}

function linear(rateHz: number): Codec {
  return { name: 'pcm16', rateHz, channels: 1, bytesPerSample: 2 };
}

function ignored(what: string): CarrierEvent {
  return { type: 'ignored', what };
}

/**
 * One connection. Pure, like a `Dialect`. The connection's first message names the call and the first audio shows its
 * rate, so a call begins with its first audio, or with {@link begin} when there is none.
 */
export class AudioSocketDialect {
  readonly carrier = 'audiosocket';
  readonly #streamId: string;
  readonly #companding = new CompandingReader();
  #callId: string | null = null;
  #start: CallStart | null = null;
  /** Resamplers from other rates to the call's rate: at most one for each kind of audio. */
  readonly #resamplers = new Map<number, Resampler>();
  #sequence = 0;

  /** `streamId` distinguishes this connection from others with the same call id. */
  constructor(streamId: string) {
    this.#streamId = streamId;
  }

  /** Whether the call's id is known. */
  get isNamed(): boolean {
    return this.#callId !== null;
  }

  /** The codec of the call's audio in both directions; null before its `start`. */
  get codec(): Codec | null {
    return this.#start?.codec ?? null;
  }

  /**
   * The events of a message. The first audio, or a key before it, also begins the call.
   * @throws TrunklineError `start_repeated` for a second call id; `message_malformed` for a key that is not one byte
   */
  receive({ kind, payload }: AudioSocketMessage): readonly CarrierEvent[] {
    const rateHz = RATES_HZ.get(kind);
    if (rateHz !== undefined) return this.#receiveAudio(payload, rateHz);
    switch (kind) {
      case KIND.uuid:
        return [this.#receiveUuid(payload)];
      case KIND.dtmf:
        return [...this.begin(), receiveDtmf(payload)];
      case KIND.hangup:
        return [{ type: 'stop' }];
      case KIND.silence:
        return [ignored('silence')];
      case KIND.error:
        return [ignored('error')];
      default:
        return [ignored('unknown_kind')];
    }
  }

  /**
   * Begins the call although no audio has shown its rate: at 8 kHz, which the application always uses. Returns nothing
   * when the call has begun or has no id yet.
   */
  begin(rateHz = DEFAULT_RATE_HZ): readonly CarrierEvent[] {
    if (this.#start !== null || this.#callId === null) return [];
    this.#start = {
      carrier: this.carrier,
      callId: this.#callId,
      streamId: this.#streamId,
      from: null,
      to: null,
      tracks: ['inbound'],
      codec: linear(rateHz),
      playback: 'paced',
      parameters: {},
    };
    return [{ type: 'start', start: this.#start }];
  }

  /**
   * Formats audio. AudioSocket has no marks and no clear: it plays everything that was sent.
   * @throws TrunklineError `invalid_request` before `start`, for other commands, and for audio that is empty (which
   * would end the call) or too long for a message
   */
  format(command: CarrierCommand): Uint8Array {
    if (this.#start === null)
      throw new TrunklineError('invalid_request', 'nothing can be sent before the call has begun');
    if (command.type !== 'audio') throw new TrunklineError('invalid_request', `AudioSocket has no ${command.type}`);
    const { length } = command.bytes;
    if (length === 0 || length > PAYLOAD_MAX_BYTES)
      throw new TrunklineError('invalid_request', `got ${length} bytes of sound, expected 1 to ${PAYLOAD_MAX_BYTES}`);
    return writeMessage(KINDS.get(this.#start.codec.rateHz) ?? KIND_8K, command.bytes);
  }

  /** One frame of silence. Throws as {@link format}. */
  silence(): Uint8Array {
    return this.format({
      type: 'audio',
      bytes: new Uint8Array(frameBytes(this.#start?.codec ?? linear(DEFAULT_RATE_HZ))),
    });
  }

  /** The message that ends the call. The application then goes on in the dialplan; the channel driver hangs up. */
  hangup(): Uint8Array {
    return writeMessage(KIND.hangup, new Uint8Array(0));
  }

  #receiveUuid(payload: Uint8Array): CarrierEvent {
    if (this.#callId !== null)
      throw new TrunklineError('start_repeated', 'got a second call id, expected one per connection');
    this.#callId = formatUuid(payload);
    return ignored('uuid');
  }

  #receiveAudio(payload: Uint8Array, rateHz: number): readonly CarrierEvent[] {
    if (payload.length === 0) return [ignored('empty_audio')];
    const begun = this.begin(rateHz);
    const bytes = this.#toCallRate(rateHz === DEFAULT_RATE_HZ ? this.#companding.toLinear(payload) : payload, rateHz);
    this.#sequence++;
    return [...begun, { type: 'audio', track: 'inbound', bytes, atMs: null, sequence: this.#sequence }];
  }

  /** A channel may change its rate, or show it only after the call has begun without audio. */
  #toCallRate(bytes: Uint8Array, rateHz: number): Uint8Array {
    const callRateHz = this.#start?.codec.rateHz ?? rateHz;
    if (rateHz === callRateHz) return bytes;
    const resampler = this.#resamplers.get(rateHz) ?? new Resampler(rateHz, callRateHz);
    this.#resamplers.set(rateHz, resampler);
    return samplesToPcm16(resampler.push(pcm16ToSamples(bytes)));
  }
}

/** Reads a telephone key. Other signals, such as a flash, are ignored. */
function receiveDtmf(payload: Uint8Array): CarrierEvent {
  if (payload.length !== 1)
    throw new TrunklineError('message_malformed', `got a key of ${payload.length} bytes, expected 1`);
  const digit = String.fromCharCode(payload[0] as number);
  return DIGIT.test(digit) ? { type: 'dtmf', track: 'inbound', digit } : ignored('strange_key');
}
