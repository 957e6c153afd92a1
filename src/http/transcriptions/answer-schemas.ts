/** Transcripts as JSON, as the API's description shows them: what `render` writes. Nothing is checked with them. */
import { z } from 'zod';
import { nameSchemas } from '../server/named-schemas.ts';

const language = z.string().nullable().describe('English name, in lower case; null = probably none that is understood');
const common = {
  text: z.string(),
  language,
  warning: z.string().optional().describe('Our addition: what the recogniser could not do'),
  usage: z.object({ type: z.literal('duration'), seconds: z.int() }),
};
const channel = z.int().optional().describe('With split channels: from 1');
const confidence = z.number().optional().describe('Share of the words, 0 to 1, that may be expected to be right');

const transcription = z.object({
  ...common,
  logprobs: z
    .array(z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()) }))
    .optional()
    .describe('With `include`'),
});

const segment = z.object({
  id: z.int(),
  seek: z.literal(0),
  start: z.number().describe('Seconds'),
  end: z.number().describe('Seconds'),
  text: z.string(),
  tokens: z.array(z.int()),
  temperature: z.number(),
  avg_logprob: z.number(),
  compression_ratio: z.number(),
  no_speech_prob: z.number(),
  confidence,
  channel,
});

const word = z.object({
  word: z.string(),
  start: z.number().describe('Seconds'),
  end: z.number().describe('Seconds'),
  confidence,
  channel,
});

const verboseTranscription = z.object({
  ...common,
  task: z.enum(['transcribe', 'translate']),
  duration: z.number().describe('Seconds'),
  segments: z.array(segment).optional(),
  words: z.array(word).optional(),
  word_times: z.enum(['aligned', 'estimated']).optional(),
});

/** With `response_format` `json` or `verbose_json`. */
export const transcriptionAnswer = z.union([verboseTranscription, transcription]);

nameSchemas({
  AnyTranscription: transcriptionAnswer,
  Transcription: transcription,
  VerboseTranscription: verboseTranscription,
  TranscriptionSegment: segment,
  TranscriptionWord: word,
});
