/** Encodes speech in the formats that a request can ask for. */
import { encodeWav, MP3_RATES_HZ, Mp3Encoder, WAV_HEADER_BYTES } from '../../audio/encode.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Codec } from '../../foundation/units.ts';
import type { FfmpegEncoder } from './ffmpeg-encoder.ts';

/** OpenAI's formats; `ogg`, the Qwen3-TTS server's name for opus; and the raw formats of telephones. */
export const SPEECH_FORMATS = ['mp3', 'wav', 'pcm', 'flac', 'opus', 'ogg', 'aac', 'mulaw', 'alaw'] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/** The rates of MP3, which are the usual ones: filters between odd rates take long to make. */
export type SpeechRateHz = (typeof MP3_RATES_HZ)[number];

/** OpenAI's rate: raw samples have no header that names another. */
const PCM_RATE_HZ = 24_000;
const TELEPHONE_RATE_HZ = 8000;

/** RFC 7845 §9 for Opus in Ogg, RFC 4856 §2.1.14 for G.711. */
const CONTENT_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  flac: 'audio/flac',
  opus: 'audio/ogg; codecs=opus',
  ogg: 'audio/ogg; codecs=opus',
  aac: 'audio/aac',
  mulaw: 'audio/PCMU; rate=8000',
  alaw: 'audio/PCMA; rate=8000',
};

/** Ffmpeg's encoder for a format, and its options. */
interface FfmpegFormat {
  readonly encoder: string;
  readonly output: readonly string[];
}

const OPUS: FfmpegFormat = {
  encoder: 'libopus',
  output: ['-b:a', '32k', '-application', 'voip', '-page_duration', '200000', '-f', 'ogg'],
};

const FFMPEG_FORMATS: Partial<Readonly<Record<SpeechFormat, FfmpegFormat>>> = {
  flac: { encoder: 'flac', output: ['-f', 'flac'] },
  opus: OPUS,
  ogg: OPUS,
  aac: { encoder: 'aac', output: ['-b:a', '64k', '-f', 'adts'] },
};

/** Stretches of sound or of a file, as they are made. */
export type Sound = AsyncGenerator<Uint8Array, void, undefined>;

/** Turns sound into files of one format and rate. */
export interface SpeechEncoder {
  readonly contentType: string;
  /** The codec of the sound that {@link encode} takes. */
  readonly codec: Codec;
  /**
   * Encodes a sound as it comes; no sound gives no file. Fails with what the sound fails with. `soundBytes` is the
   * length of the whole sound; null = not known yet.
   */
  encode(sound: Sound, signal: AbortSignal, soundBytes: number | null): Sound;
  /** The length of the file of `soundBytes` of sound; missing when only encoding can tell. */
  fileBytes?(soundBytes: number): number;
}

/** Finds the encoder of each request. */
export class SpeechEncoders {
  readonly #ffmpeg: FfmpegEncoder;
  readonly #mp3 = new Mp3Encoder();

  constructor(options: { ffmpeg: FfmpegEncoder }) {
    this.#ffmpeg = options.ffmpeg;
  }

  /**
   * The encoder of `format` at `askedHz`, or at the format's usual rate, which for most is the voice's own.
   * @throws TrunklineError `unsupported_format` when it needs ffmpeg and ffmpeg cannot encode it, `invalid_request` for
   * a rate that the format does not have
   */
  async resolve(format: SpeechFormat, askedHz: SpeechRateHz | null, voiceHz: number): Promise<SpeechEncoder> {
    const contentType = CONTENT_TYPES[format];
    if (format === 'mulaw' || format === 'alaw') {
      return { contentType, codec: telephoneCodec(format, askedHz), encode: (sound) => sound };
    }
    const rateHz = askedHz ?? (format === 'pcm' ? PCM_RATE_HZ : rateFor(voiceHz));
    const codec: Codec = { name: 'pcm16', rateHz, channels: 1, bytesPerSample: 2 };
    switch (format) {
      case 'pcm':
        return { contentType, codec, encode: (sound) => sound };
      case 'wav':
        return {
          contentType,
          codec,
          encode: (sound, _signal, soundBytes) => encodeWav(sound, rateHz, soundBytes),
          fileBytes: (soundBytes) => WAV_HEADER_BYTES + soundBytes,
        };
      case 'mp3':
        return { contentType, codec, encode: (sound) => this.#mp3.encode(sound, rateHz) };
      default:
        return { contentType, codec, encode: await this.#byFfmpeg(format, rateHz) };
    }
  }

  async #byFfmpeg(format: SpeechFormat, rateHz: number): Promise<SpeechEncoder['encode']> {
    const known = FFMPEG_FORMATS[format];
    const { encoder, output } = known ?? { encoder: format, output: [] };
    if (!(await this.#ffmpeg.encoders()).has(encoder)) refuseFormat(format, encoder);
    return (sound, signal) => this.#ffmpeg.encode(sound, { rateHz, output: ['-c:a', encoder, ...output] }, signal);
  }
}

/** The rate that loses nothing of a voice. */
function rateFor(voiceHz: number): SpeechRateHz {
  return MP3_RATES_HZ.find((rateHz) => rateHz >= voiceHz) ?? MP3_RATES_HZ[MP3_RATES_HZ.length - 1] ?? PCM_RATE_HZ;
}

function telephoneCodec(name: 'mulaw' | 'alaw', askedHz: SpeechRateHz | null): Codec {
  if (askedHz === null || askedHz === TELEPHONE_RATE_HZ)
    return { name, rateHz: TELEPHONE_RATE_HZ, channels: 1, bytesPerSample: 1 };
  throw new TrunklineError(
    'invalid_request',
    `sample_rate: got ${askedHz}, expected ${TELEPHONE_RATE_HZ} or none with ${name}`,
    'sample_rate',
  );
}

function refuseFormat(format: SpeechFormat, encoder: string): never {
  const without = SPEECH_FORMATS.filter((each) => !(each in FFMPEG_FORMATS)).join(', ');
  const why = `it needs ffmpeg with its encoder ${encoder}, which is not on this server's PATH`;
  throw new TrunklineError(
    'unsupported_format',
    `response_format: got ${format}, but ${why}; expected one of ${without}`,
    'response_format',
  );
}
