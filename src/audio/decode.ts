/** Decoders that read a file bit by bit, so that memory does not grow with the file. */
import { decoder as flacDecoder } from '@audio/decode-flac';
import { decoder as mp3Decoder } from '@audio/decode-mp3';
import { decoder as opusDecoder } from '@audio/decode-opus';
import { decoder as vorbisDecoder } from '@audio/decode-vorbis';
import { TrunklineError } from '../foundation/errors.ts';
import { joinBytes } from './bytes.ts';
import { type CodecInput, inputFor } from './codec-input.ts';
import { refusalOf } from './limits.ts';
import { joinSamples } from './mix.ts';
import { toSample } from './pcm.ts';
import { readWavLayout, type WavLayout } from './wav.ts';

/** Some decoded audio: one array for each channel, all of one length. */
export interface Stretch {
  readonly rateHz: number;
  readonly channels: readonly Int16Array[];
}

/** Decodes one file. After an error it may only be closed. */
export interface StretchDecoder {
  /**
   * Takes the file's next bytes and returns the audio that is complete; null = none yet.
   * @throws TrunklineError `audio_unreadable`
   */
  push(bytes: Uint8Array): Stretch | null;
  /** Returns the audio that is left at the end of the file. @throws TrunklineError `audio_unreadable` */
  flush(): Stretch | null;
  close(): void;
}

/** The kinds of files that these decoders read. */
export type DecodableKind = 'wav' | 'mp3' | 'flac' | 'vorbis' | 'opus';

/**
 * Most bytes to push at once. A compressed file can hold very long silence in few bytes, so small pushes limit the
 * memory that one takes. FLAC has 65,535 samples in about 12 bytes: 6 MB of floats in a push of one channel, 19 MB
 * of eight. A page of Ogg, which comes out whole, has 255 packets of 5760 (Opus) or 4096 (Vorbis) samples of each
 * channel in half a kilobyte: 6 MB, and 47 of eight.
 */
export const PUSH_BYTES: Readonly<Record<DecodableKind, number>> = {
  wav: 65_536,
  mp3: 8192,
  flac: 256,
  vorbis: 512,
  opus: 512,
};

/**
 * Most bytes without any audio. Pictures may come before it, and a codec keeps and copies what it cannot decode: that
 * of Ogg copies all of a packet with each of its pages, so 16 MB take it some seconds, and 64 MB nearly a minute.
 */
const SILENT_MAX_BYTES: Readonly<Record<Exclude<DecodableKind, 'wav'>, number>> = {
  mp3: 67_108_864,
  flac: 67_108_864,
  vorbis: 16_777_216,
  opus: 16_777_216,
};

/** Most bytes before a WAV file's audio: pictures and notes may come there, but not without end. */
const WAV_HEAD_MAX_BYTES = 4_194_304;

/** What the codec packages return: floats from −1 to 1. */
interface Floats {
  readonly channelData: readonly Float32Array[];
  readonly sampleRate: number;
}

interface Codec {
  decode(bytes: Uint8Array): Floats;
  flush?(): Floats;
  free(): void;
}

const CODECS: Readonly<Record<Exclude<DecodableKind, 'wav'>, () => Promise<Codec>>> = {
  mp3: mp3Decoder,
  flac: flacDecoder,
  vorbis: vorbisDecoder,
  opus: opusDecoder,
};

/** Opens a decoder for a file of `kind` that is `totalBytes` long. */
export async function openDecoder(kind: DecodableKind, totalBytes: number): Promise<StretchDecoder> {
  return kind === 'wav' ? new WavDecoder(totalBytes) : new CodecDecoder(kind, await CODECS[kind]());
}

class CodecDecoder implements StretchDecoder {
  readonly #kind: Exclude<DecodableKind, 'wav'>;
  readonly #codec: Codec;
  readonly #input: CodecInput;
  /** Bytes pushed since the last audio. */
  #silentBytes = 0;

  constructor(kind: Exclude<DecodableKind, 'wav'>, codec: Codec) {
    this.#kind = kind;
    this.#codec = codec;
    this.#input = inputFor(kind);
  }

  push(bytes: Uint8Array): Stretch | null {
    const parts = this.#pass(() => this.#input.push(bytes));
    const stretch = joinStretches(parts.map((part) => this.#read(() => this.#codec.decode(part))));
    this.#silentBytes = stretch === null ? this.#silentBytes + parts.reduce((sum, part) => sum + part.length, 0) : 0;
    if (this.#silentBytes > SILENT_MAX_BYTES[this.#kind])
      throw unreadable(`there is no audio in ${this.#silentBytes} bytes of it`);
    return stretch;
  }

  flush(): Stretch | null {
    const stretches = this.#pass(() => this.#input.flush()).map((part) => this.#read(() => this.#codec.decode(part)));
    return joinStretches([...stretches, this.#read(() => this.#codec.flush?.() ?? null)]);
  }

  close(): void {
    this.#codec.free();
  }

  #read(decode: () => Floats | null): Stretch | null {
    const floats = this.#guard(decode);
    if (floats === null || (floats.channelData[0]?.length ?? 0) === 0) return null;
    const { sampleRate, channelData } = floats;
    const refusal = refusalOf(sampleRate, channelData.length);
    if (refusal !== null) throw unreadable(refusal);
    return { rateHz: sampleRate, channels: channelData.map(toSamples) };
  }

  #pass(take: () => Uint8Array[]): Uint8Array[] {
    try {
      return take();
    } catch (error) {
      throw error instanceof RangeError ? unreadable(error.message) : error;
    }
  }

  #guard(decode: () => Floats | null): Floats | null {
    try {
      return decode();
    } catch (error) {
      throw unreadable(`its ${this.#kind} data is damaged (${error instanceof Error ? error.message : String(error)})`);
    }
  }
}

function joinStretches(stretches: readonly (Stretch | null)[]): Stretch | null {
  const found = stretches.filter((stretch) => stretch !== null);
  const [first] = found;
  if (first === undefined || found.length === 1) return first ?? null;
  if (found.some(({ rateHz, channels }) => rateHz !== first.rateHz || channels.length !== first.channels.length))
    throw unreadable('its sampling rate or number of channels changes on the way');
  const { rateHz, channels } = first;
  return {
    rateHz,
    channels: channels.map((_, index) =>
      joinSamples(found.map((stretch) => stretch.channels[index] ?? new Int16Array(0))),
    ),
  };
}

function toSamples(floats: Float32Array): Int16Array {
  const samples = new Int16Array(floats.length);
  for (let i = 0; i < samples.length; i++) samples[i] = toSample((floats[i] as number) * 32_768);
  return samples;
}

class WavDecoder implements StretchDecoder {
  readonly #totalBytes: number;
  #layout: WavLayout | null = null;
  /** The incomplete header, then the bytes of an incomplete frame. */
  #held: Uint8Array = new Uint8Array(0);
  #dataLeft = 0;

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes;
  }

  push(bytes: Uint8Array): Stretch | null {
    const all = this.#held.length === 0 ? bytes : joinBytes([this.#held, bytes]);
    return this.#layout === null ? this.#readHead(all) : this.#readFrames(this.#layout, all);
  }

  flush(): Stretch | null {
    if (this.#layout === null) throw unreadable('its WAV header is cut off');
    return null;
  }

  close(): void {
    this.#held = new Uint8Array(0);
  }

  #readHead(head: Uint8Array): Stretch | null {
    const layout = this.#guard(() => readWavLayout(head, this.#totalBytes));
    if (layout === null || layout.dataFrom > head.length) {
      if (head.length > WAV_HEAD_MAX_BYTES)
        throw unreadable(`its audio does not begin within the first ${WAV_HEAD_MAX_BYTES} bytes`);
      this.#held = head;
      return null;
    }
    this.#layout = layout;
    this.#dataLeft = layout.dataBytes;
    return this.#readFrames(layout, head.subarray(layout.dataFrom));
  }

  #readFrames(layout: WavLayout, bytes: Uint8Array): Stretch | null {
    const data = bytes.subarray(0, this.#dataLeft);
    const whole = data.length - (data.length % layout.frameBytes);
    this.#held = data.slice(whole);
    this.#dataLeft -= whole;
    return whole === 0 ? null : { rateHz: layout.rateHz, channels: layout.read(data.subarray(0, whole)) };
  }

  #guard<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw error instanceof TrunklineError ? new TrunklineError('audio_unreadable', error.message) : error;
    }
  }
}

function unreadable(why: string): TrunklineError {
  return new TrunklineError('audio_unreadable', `the file cannot be decoded: ${why}`);
}
