/** Opus (RFC 6716) for speech: mono packets of one stream, with what the codec does about lost ones. */
import { TrunklineError } from '../foundation/errors.ts';
import { type OpusLibrary, opusLibrary } from '../foundation/opus-library.ts';
import { msToSamples } from '../foundation/units.ts';

/** The longest packet, of 120 ms, and the most bytes that one of a stream has (RFC 6716 §3.4). */
const PACKET_MAX_MS = 120;
const PACKET_MAX_BYTES = 1275 * 6 + 8;
/** What is lost is concealed in steps of this. */
const STEP_MS = 10;

/** Requests and values of opus_defines.h. */
const APPLICATION_VOIP = 2048;
const SIGNAL_VOICE = 3001;
const SET = {
  bitrate: 4002,
  maxBandwidth: 4004,
  vbr: 4006,
  complexity: 4010,
  fec: 4012,
  loss: 4014,
  dtx: 4016,
  signal: 4024,
};
const BANDWIDTHS: readonly (readonly [rateHz: number, value: number])[] = [
  [16_000, 1103],
  [12_000, 1102],
  [0, 1101],
];

/** The rates that a coder takes and gives, in Hz. */
export type OpusRateHz = 8000 | 12_000 | 16_000 | 24_000 | 48_000;

/** How sound is encoded. */
export interface OpusEncoderOptions {
  readonly rateHz: OpusRateHz;
  readonly bitsPerSecond: number;
  /** 0–10: how much work is done for the sound. */
  readonly complexity: number;
  /** The share of packets that may be lost, in percent, and is made up for by what later ones say; 0 = nothing. */
  readonly lossPercent: number;
  /** Silence is told in packets of a byte or two. */
  readonly dtx: boolean;
  readonly constantBitRate: boolean;
  /** The highest rate that the other side plays. */
  readonly playbackHz: number;
}

/** Memory of the library that is given back once. */
class Memory {
  readonly library: OpusLibrary = opusLibrary();
  readonly #pointers: number[] = [];

  /** @throws TrunklineError `internal` when there is none left */
  take(bytes: number): number {
    const pointer = this.library.malloc(bytes);
    if (pointer === 0) throw new TrunklineError('internal', `no memory for ${bytes} bytes of an Opus coder`);
    this.#pointers.push(pointer);
    return pointer;
  }

  /** The library's memory moves when it grows, so views of it are made anew each time. */
  bytes(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.library.memory.buffer, pointer, length);
  }

  samples(pointer: number, length: number): Int16Array {
    return new Int16Array(this.library.memory.buffer, pointer, length);
  }

  close(): void {
    for (const pointer of this.#pointers.splice(0)) this.library.free(pointer);
  }
}

/** Decodes the packets of one stream, in their order. It holds memory until it is closed. */
export class OpusDecoder {
  readonly #channels: 1 | 2;
  readonly #memory = new Memory();
  readonly #rateHz: OpusRateHz;
  readonly #decoder: number;
  readonly #packet: number;
  readonly #samples: number;
  #closed = false;

  /** @param channels what is given, whatever the packets have: two are mixed into one, one is given twice */
  constructor(rateHz: OpusRateHz, channels: 1 | 2 = 1) {
    this.#rateHz = rateHz;
    this.#channels = channels;
    const { library } = this.#memory;
    this.#decoder = this.#memory.take(library.opus_decoder_get_size(channels));
    this.#packet = this.#memory.take(PACKET_MAX_BYTES);
    this.#samples = this.#memory.take(2 * channels * msToSamples(PACKET_MAX_MS, rateHz));
    library.opus_decoder_init(this.#decoder, rateHz, channels);
  }

  /** The sound of the next packet, interleaved; empty when it is no packet of Opus. */
  decode(packet: Uint8Array): Int16Array {
    return this.#decode(packet, msToSamples(PACKET_MAX_MS, this.#rateHz), false);
  }

  /**
   * Sound in place of `lostMs` of packets before `next`, rounded to 10 ms: the end of it by what `next` says of the
   * packet before it, if it does.
   */
  conceal(lostMs: number, next: Uint8Array): Int16Array {
    const totalMs = Math.round(Math.min(Math.max(lostMs, 0), PACKET_MAX_MS) / STEP_MS) * STEP_MS;
    const saidMs = Math.min(opusPacketMs(next), totalMs);
    const guessed = this.#decode(null, msToSamples(totalMs - saidMs, this.#rateHz), false);
    const said = this.#decode(next, msToSamples(saidMs, this.#rateHz), true);
    const all = new Int16Array(guessed.length + said.length);
    all.set(guessed);
    all.set(said, guessed.length);
    return all;
  }

  close(): void {
    this.#closed = true;
    this.#memory.close();
  }

  #decode(packet: Uint8Array | null, samples: number, recover: boolean): Int16Array {
    const isNothing = packet === null ? samples === 0 : packet.length === 0 || packet.length > PACKET_MAX_BYTES;
    if (this.#closed || isNothing || samples === 0) return new Int16Array(0);
    if (packet !== null) this.#memory.bytes(this.#packet, packet.length).set(packet);
    const count = this.#memory.library.opus_decode(
      this.#decoder,
      packet === null ? 0 : this.#packet,
      packet?.length ?? 0,
      this.#samples,
      samples,
      recover ? 1 : 0,
    );
    return count < 0 ? new Int16Array(0) : this.#memory.samples(this.#samples, count * this.#channels).slice();
  }
}

/** Encodes one stream. It holds memory until it is closed. */
export class OpusEncoder {
  readonly #memory = new Memory();
  readonly #encoder: number;
  readonly #packet: number;
  readonly #samples: number;
  readonly #samplesMax: number;
  #closed = false;

  constructor(options: OpusEncoderOptions) {
    const { library } = this.#memory;
    this.#encoder = this.#memory.take(library.opus_encoder_get_size(1));
    this.#packet = this.#memory.take(PACKET_MAX_BYTES);
    this.#samplesMax = msToSamples(PACKET_MAX_MS, options.rateHz);
    this.#samples = this.#memory.take(2 * this.#samplesMax);
    library.opus_encoder_init(this.#encoder, options.rateHz, 1, APPLICATION_VOIP);
    const bandwidth = BANDWIDTHS.find(([rateHz]) => options.playbackHz >= rateHz)?.[1] ?? 1101;
    this.#set(SET.bitrate, options.bitsPerSecond);
    this.#set(SET.maxBandwidth, bandwidth);
    this.#set(SET.vbr, options.constantBitRate ? 0 : 1);
    this.#set(SET.complexity, options.complexity);
    this.#set(SET.fec, options.lossPercent > 0 ? 1 : 0);
    this.#set(SET.loss, options.lossPercent);
    this.#set(SET.dtx, options.dtx ? 1 : 0);
    this.#set(SET.signal, SIGNAL_VOICE);
  }

  /**
   * One packet of `samples`, which must last 10, 20, 40 or 60 ms.
   * @throws RangeError for another length
   */
  encode(samples: Int16Array): Uint8Array {
    const { library } = this.#memory;
    if (this.#closed || samples.length > this.#samplesMax) throw lengthError(samples.length);
    this.#memory.samples(this.#samples, samples.length).set(samples);
    const bytes = library.opus_encode(this.#encoder, this.#samples, samples.length, this.#packet, PACKET_MAX_BYTES);
    if (bytes < 0) throw lengthError(samples.length);
    return this.#memory.bytes(this.#packet, bytes).slice();
  }

  close(): void {
    this.#closed = true;
    this.#memory.close();
  }

  #set(request: number, value: number): void {
    this.#memory.library.opus_encoder_ctl_set(this.#encoder, request, value);
  }
}

function lengthError(samples: number): RangeError {
  return new RangeError(`got ${samples} samples for a packet of Opus, expected 10, 20, 40 or 60 ms of an open stream`);
}

/** How long the sound of a packet is by its first bytes (RFC 6716 §3.1); 0 = it says nothing of the kind. */
export function opusPacketMs(packet: Uint8Array): number {
  const [head, count = 0] = packet;
  if (head === undefined) return 0;
  const config = head >> 3;
  const codedFrames = [1, 2, 2, count & 0x3f][head & 3] as number;
  const frameMs = config < 12 ? [10, 20, 40, 60][config & 3] : config < 16 ? [10, 20][config & 1] : undefined;
  const totalMs = (frameMs ?? ([2.5, 5, 10, 20][config & 3] as number)) * codedFrames;
  return totalMs <= PACKET_MAX_MS ? totalMs : 0;
}
