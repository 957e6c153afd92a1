/** What somebody wants to have spoken: the body of OpenAI's `POST /v1/audio/speech`, with what telephones and the Qwen3-TTS server add to it. */
import { z } from 'zod';
import { SPEED_MAX, SPEED_MIN } from '../../../engine/contract.ts';
import { MP3_RATES_HZ } from '../../audio/encode.ts';
import type { Style } from '../../speech/prompter.ts';
import { SPEECH_FORMATS, type SpeechFormat, type SpeechRateHz } from './formats.ts';

const NAME_MAX_CHARS = 64;
const INSTRUCTIONS_MAX_CHARS = 4096;
/** JSON may write one character as `\uXXXX`, and twice that beyond the basic plane. */
const BYTES_PER_CHAR = 12;
/** All fields but `input`. */
const FIELDS_BYTES = 65_536;

/** Something to be spoken, and in what form. */
export interface SpeechOrder {
  readonly text: string;
  readonly style: Style;
  readonly format: SpeechFormat;
  /** Null = as is usual for the format. */
  readonly rateHz: SpeechRateHz | null;
}

/** The fields that all doors take; others are ignored. `inputMaxChars` = SPEECH_INPUT_MAX_CHARS. */
export function orderFields(inputMaxChars: number) {
  return z.object({
    input: z.string().min(1).max(inputMaxChars).describe('The text'),
    voice: z
      .union([z.string().max(NAME_MAX_CHARS), z.object({ id: z.string().max(NAME_MAX_CHARS) })])
      .optional()
      .describe("A voice of ours, or one of OpenAI's names, each of which stands for one of ours; DEFAULT_VOICE unless given"),
    speed: z.number().min(SPEED_MIN).max(SPEED_MAX).default(1),
    sample_rate: z
      .literal(MP3_RATES_HZ)
      .optional()
      .describe("Hz; 24000 for pcm, 8000 for mulaw and alaw, the voice's own for the rest unless given"),
    language: z
      .string()
      .max(NAME_MAX_CHARS)
      .optional()
      .describe('BCP-47, e.g. `de`: where no voice is named, one that speaks it; `auto` = any'),
    text_normalize: z.boolean().default(true).describe('Write out amounts, times, numbers and the like before they are spoken'),
  });
}

/** The whole body of `POST /v1/audio/speech`. */
export function speechBody(inputMaxChars: number) {
  return orderFields(inputMaxChars).extend({
    model: z.string().max(NAME_MAX_CHARS).optional().describe('One of GET /v1/models; they all mean the one that is loaded'),
    instructions: z.string().max(INSTRUCTIONS_MAX_CHARS).optional().describe('Taken and ignored: the voices follow no instructions'),
    response_format: z.enum(SPEECH_FORMATS).default('mp3'),
    stream_format: z
      .enum(['audio', 'sse'])
      .default('audio')
      .describe('The file itself as it grows, or Server-Sent Events with pieces of it'),
  });
}

type OrderFields = z.infer<ReturnType<typeof orderFields>>;

/** The order that `fields` make, in `format`. */
export function toOrder(fields: OrderFields, format: SpeechFormat): SpeechOrder {
  const { input, voice, speed, sample_rate: rateHz = null, language, text_normalize: textNormalize } = fields;
  const name = typeof voice === 'object' ? voice.id : voice;
  const style: Style = {
    ...(name !== undefined && { voice: name }),
    ...(language !== undefined && language !== 'auto' && { lang: language }),
    speed,
    textNormalize,
  };
  return { text: input, style, format, rateHz };
}

/** Largest body that can hold an input of `inputMaxChars`. */
export function bodyMaxBytes(inputMaxChars: number): number {
  return inputMaxChars * BYTES_PER_CHAR + FIELDS_BYTES;
}
