/** Requests for speech: OpenAI's body of `POST /v1/audio/speech`, with fields for telephones and Qwen3-TTS clients. */
import { z } from 'zod';
import { SPEED_MAX, SPEED_MIN } from '../../../engine/contract.ts';
import { MP3_RATES_HZ } from '../../audio/encode.ts';
import { LANGUAGE_NAMES } from '../../foundation/languages.ts';
import type { VoiceOptions } from '../../speech/voice-resolver.ts';
import { MODEL_NAME_MAX_CHARS } from '../models.ts';
import type { ClientFamilies } from '../server/client-families.ts';
import { SPEECH_FORMATS, type SpeechEncoder, type SpeechFormat, type SpeechRateHz } from './encoders.ts';

const NAME_MAX_CHARS = 64;
const INSTRUCTIONS_MAX_CHARS = 4096;
/** JSON can write a character as `\uXXXX`, and as two of these beyond the basic plane. */
const BYTES_PER_CHAR = 12;
/** All fields but `input`. */
const FIELDS_BYTES = 65_536;
/** WAV files of texts up to this length are made whole before they are sent: some 20 s of speech. */
const SHORT_INPUT_CHARS = 300;
/** Largest file that is made whole in memory; a longer one is sent as it grows. Four minutes at 16 kHz. */
const WHOLE_MAX_BYTES = 8_388_608;

/** A text to be spoken, its voice and its format. */
export interface SpeechRequest {
  readonly text: string;
  readonly voiceOptions: VoiceOptions;
  readonly format: SpeechFormat;
  /** Null = the usual rate of the format. */
  readonly rateHz: SpeechRateHz | null;
  /** A file up to this size is made whole before it is sent, so that its length is known; 0 = sent as it grows. */
  readonly wholeMaxBytes: number;
  /** In place of the encoder of `format` at `rateHz`. */
  readonly encoder?: SpeechEncoder;
}

/** The fields that all speech routes take; others are ignored. `inputMaxChars` = SPEECH_INPUT_MAX_CHARS. */
export function requestFields(inputMaxChars: number) {
  return z.object({
    input: z.string().min(1).max(inputMaxChars).describe('The text'),
    voice: z
      .union([z.string().max(NAME_MAX_CHARS), z.object({ id: z.string().max(NAME_MAX_CHARS) })])
      .nullish()
      .describe("One of GET /v1/audio/voices, or OpenAI's or Qwen3-TTS's name for one; DEFAULT_VOICE unless given"),
    speed: z.number().min(SPEED_MIN).max(SPEED_MAX).default(1),
    sample_rate: z
      .literal(MP3_RATES_HZ)
      .nullish()
      .describe("Hz; 24000 for pcm, 8000 for mulaw and alaw, the voice's own for the rest unless given"),
    language: z
      .string()
      .max(NAME_MAX_CHARS)
      .nullish()
      .describe(
        'BCP-47 or an English name, `de` or `German`: where no voice is named, one that speaks it; `auto` = any',
      ),
    text_normalize: z
      .boolean()
      .default(true)
      .describe('Write out amounts, times, numbers and the like before they are spoken'),
  });
}

/** The whole body of `POST /v1/audio/speech`. */
export function speechBody(inputMaxChars: number) {
  return requestFields(inputMaxChars).extend({
    model: z
      .string()
      .max(MODEL_NAME_MAX_CHARS)
      .nullish()
      .describe(
        'One of GET /v1/models; they all mean the model that is loaded. With `qwen3-tts` the response is like that ' +
          "server's",
      ),
    instructions: z
      .string()
      .max(INSTRUCTIONS_MAX_CHARS)
      .nullish()
      .describe('Taken and ignored: the voices follow no instructions'),
    response_format: z
      .enum(SPEECH_FORMATS)
      .optional()
      .describe("mp3 unless given; wav for the Qwen3-TTS server's clients"),
    stream_format: z
      .enum(['audio', 'sse'])
      .default('audio')
      .describe('The file itself as it grows, or Server-Sent Events with pieces of it'),
  });
}

type RequestFields = z.infer<ReturnType<typeof requestFields>>;
type SpeechBody = z.infer<ReturnType<typeof speechBody>>;

/** The request that `fields` make, in `format`. */
export function toSpeechRequest(fields: RequestFields, format: SpeechFormat): SpeechRequest {
  const { input, speed, sample_rate: rateHz, language, text_normalize: textNormalize } = fields;
  const name = (typeof fields.voice === 'object' ? fields.voice?.id : fields.voice) ?? '';
  const lang = languageTag(language ?? '');
  const voiceOptions: VoiceOptions = {
    ...(name !== '' && { voice: name }),
    ...(lang !== '' && { lang }),
    speed,
    textNormalize,
  };
  return { text: input, voiceOptions, format, rateHz: rateHz ?? null, wholeMaxBytes: 0 };
}

/** Clients of the Qwen3-TTS server name languages in English, and any of them `auto`. Empty = any. */
function languageTag(language: string): string {
  const wanted = language.trim().toLowerCase();
  if (wanted === 'auto') return '';
  const [code] = Object.entries(LANGUAGE_NAMES).find(([, name]) => name === wanted) ?? [];
  return code ?? language.trim();
}

/**
 * The request that the body of `POST /v1/audio/speech` makes: in the format that its client expects, and whole if that
 * client needs its length.
 */
export function toFileRequest(body: SpeechBody, families: ClientFamilies): SpeechRequest {
  const wantsWholeWav = families.senderOf(body).family?.wantsWholeWav ?? false;
  const format = body.response_format ?? (wantsWholeWav ? 'wav' : 'mp3');
  const isWhole =
    format === 'wav' && body.stream_format === 'audio' && (wantsWholeWav || body.input.length <= SHORT_INPUT_CHARS);
  return { ...toSpeechRequest(body, format), wholeMaxBytes: isWhole ? WHOLE_MAX_BYTES : 0 };
}

/** Largest body that can hold an input of `inputMaxChars`. */
export function bodyMaxBytes(inputMaxChars: number): number {
  return inputMaxChars * BYTES_PER_CHAR + FIELDS_BYTES;
}
