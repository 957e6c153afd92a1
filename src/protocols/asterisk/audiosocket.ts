/**
 * Asterisk's AudioSocket (https://docs.asterisk.org/Configuration/Channel-Drivers/AudioSocket/, and where it says
 * nothing include/asterisk/res_audiosocket.h, res/res_audiosocket.c and what a 22.10 says on the wire): messages of a
 * kind, a length and a payload on one TCP connection. Asterisk connects and names the call by a UUID; after that there
 * is sound both ways, keys, and the end of the connection. Application and channel driver, every release since 18.
 */
import { frameBytes } from '../../audio/frames.ts';
import { pcm16ToSamples, samplesToPcm16 } from '../../audio/pcm.ts';
import { Resampler } from '../../audio/resample.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Codec } from '../../foundation/units.ts';
import { CompandingReader } from '../companding.ts';
import type { CallStart, CarrierCommand, CarrierEvent } from '../dialect.ts';

/** One byte of kind, two of length, big-endian. */
const HEADER_BYTES = 3;
const UUID_BYTES = 16;
/** Two bytes of length. */
const PAYLOAD_MAX_BYTES = 65_535;
const KIND = { hangup: 0x00, uuid: 0x01, silence: 0x02, dtmf: 0x03, error: 0xff } as const;
/** The kind whose payload need not be linear: `c(ulaw)` and `c(alaw)` come under it. */
const KIND_8K = 0x10;
/** Linear PCM, little-endian, by the rate of its kind: slin, slin12 … slin192. */
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
  /** Of the memory that it came in. */
  readonly payload: Uint8Array;
}

/**
 * Cuts the bytes of a connection into messages, wherever TCP has split them. Holds no more than the beginning of one
 * message.
 */
export class AudioSocketFramer {
  readonly #messageMaxBytes: number;
  #rest: Uint8Array = new Uint8Array(0);
  #isFirst = true;

  /** `messageMaxBytes` = the largest message that is taken, its header included. */
  constructor(messageMaxBytes: number) {
    this.#messageMaxBytes = messageMaxBytes;
  }

  /** Whether the connection may end here: nothing of a message is there yet. */
  get isBetweenMessages(): boolean {
    return this.#rest.length === 0;
  }

  /**
   * The messages that `bytes` complete, one at a time: what follows one is looked at when the next is asked for.
   * @throws TrunklineError `message_too_large`; `message_malformed` when the first message is none that names a call,
   * before more of it is waited for
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
    // Memory of its own: what it came in may be large, or the reader's to use again.
    this.#rest = new Uint8Array(all);
  }

  /** The size of the message that begins `bytes`, its header included; null = its header is not there yet. */
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

/** The wire form of a message: header and payload in one piece, which Asterisk asks for. */
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
 * One connection. Pure, as a `Dialect` is; but the connection's first message names the call and the first sound shows
 * its rate, so that a call begins with its first sound, or with {@link begin} when there is none.
 */
export class AudioSocketDialect {
  readonly carrier = 'audiosocket';
  readonly #streamId: string;
  readonly #companding = new CompandingReader();
  #callId: string | null = null;
  #start: CallStart | null = null;
  /** From other rates to the call's: at most one for each kind of sound. */
  readonly #resamplers = new Map<number, Resampler>();
  #sequence = 0;

  /** `streamId` tells this connection from others that bring the same call id. */
  constructor(streamId: string) {
    this.#streamId = streamId;
  }

  /** Whether the call's id is known. */
  get isNamed(): boolean {
    return this.#callId !== null;
  }

  /** How the call's sound travels, both ways; null before its `start`. */
  get codec(): Codec | null {
    return this.#start?.codec ?? null;
  }

  /**
   * What a message means; the first sound and a key before it mean that the call begins, too.
   * @throws TrunklineError `start_repeated` for a second call id; `message_malformed` for a key that is no byte
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
   * The call begins although no sound has shown its rate: at 8 kHz, as the application always does. Nothing when it has
   * begun or has no id yet.
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
   * The wire form of sound. There are no marks and nothing to clear: what was sent is played.
   * @throws TrunklineError `invalid_request` before `start`, for anything else, and for sound that no message holds
   * (nothing, for one, ends the call)
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

  /** One frame in which nothing is said. Throws as {@link format}. */
  silence(): Uint8Array {
    return this.format({
      type: 'audio',
      bytes: new Uint8Array(frameBytes(this.#start?.codec ?? linear(DEFAULT_RATE_HZ))),
    });
  }

  /** That the call is over for us: the application then goes on in the dialplan, the channel driver hangs up. */
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

  /** A channel may change its rate, or show it only after the call has begun without sound. */
  #toCallRate(bytes: Uint8Array, rateHz: number): Uint8Array {
    const callRateHz = this.#start?.codec.rateHz ?? rateHz;
    if (rateHz === callRateHz) return bytes;
    const resampler = this.#resamplers.get(rateHz) ?? new Resampler(rateHz, callRateHz);
    this.#resamplers.set(rateHz, resampler);
    return samplesToPcm16(resampler.push(pcm16ToSamples(bytes)));
  }
}

/** Keys of the telephone; a flash and its like are none. */
function receiveDtmf(payload: Uint8Array): CarrierEvent {
  if (payload.length !== 1)
    throw new TrunklineError('message_malformed', `got a key of ${payload.length} bytes, expected 1`);
  const digit = String.fromCharCode(payload[0] as number);
  return DIGIT.test(digit) ? { type: 'dtmf', track: 'inbound', digit } : ignored('strange_key');
}
