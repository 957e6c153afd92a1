/**
 * Checks the fields of a transcription request: OpenAI's (CreateTranscriptionRequest) and our additions. Other fields
 * are ignored.
 */
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';
import { hotWordsOfPrompt, requireHotWords, splitHotWords } from '../../foundation/hot-words.ts';
import { IN_PLAIN_WORDS } from '../../foundation/settings/plain-issues.ts';
import { describe } from '../server/echo.ts';
import { nameSchemas } from '../server/named-schemas.ts';
import type { Fields } from './upload.ts';

const RESPONSE_FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const;

const PROMPT_MAX_CHARS = 10_000;
/** The Qwen3-ASR server's modes for subtitles. */
const SUBTITLE_MODES = ['accurate', 'fast'];

/** Python writes `True`. */
const flag = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['true', 'false', '1', '0', '']))
  .transform((text) => text === 'true' || text === '1');

function number(minimum: number, maximum: number) {
  const expected = `expected a number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^\d+(\.\d+)?$/, expected)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, expected);
}

const granularity = z.enum(['word', 'segment']);

/** The fields of transcript formats, as texts. Queries of batches have the same fields under camelCase names. */
export const OUTPUT_FIELDS = {
  responseFormat: z.enum(RESPONSE_FORMATS),
  maxLineChars: number(10, 200),
  maxCueMs: number(1000, 60_000),
  timestampGranularities: z.string().transform(splitList).pipe(z.array(granularity)),
} as const;

/** The defaults of {@link OUTPUT_FIELDS}. */
export const OUTPUT_DEFAULTS = {
  responseFormat: 'json',
  maxLineChars: 42,
  maxCueMs: 7000,
  timestampGranularities: ['segment'],
} as const satisfies { [K in keyof typeof OUTPUT_FIELDS]: unknown };

/** Single values. The last value of a repeated field counts. */
const single = {
  model: z
    .string()
    .max(200)
    .optional()
    .describe('One of GET /v1/models, or a name of Whisper; all stand for the loaded recogniser'),
  language: z
    .string()
    .max(40)
    .optional()
    .describe('Code or English name of the spoken language; "auto" = the recogniser decides; empty = DEFAULT_LANGUAGE'),
  target_language: z
    .string()
    .max(40)
    .optional()
    .describe('Our addition: translate into this language (needs LLM_BASE_URL)'),
  prompt: z
    .string()
    .max(PROMPT_MAX_CHARS)
    .optional()
    .describe(
      'What helps to understand the speech. A recogniser that reads such text is given its last 2000 characters; ' +
        'for others a list such as "Müller, Trunkline" is taken as hot words, and running text is ignored',
    ),
  hot_words: z
    .string()
    .optional()
    .describe('Our addition: names and phrases that are likely to be said, with commas between them'),
  response_format: OUTPUT_FIELDS.responseFormat.default(OUTPUT_DEFAULTS.responseFormat),
  temperature: number(0, 1).optional().describe('Accepted; decoding is always greedy'),
  stream: flag
    .default(false)
    .describe(
      'Send each piece of text as a Server-Sent Event as soon as it is ready; for json and text, ignored for the ' +
        'other formats',
    ),
  channels: z
    .enum(['mix', 'split'])
    .default('mix')
    .describe('Our addition: split = transcribe each channel by itself, one speaker on each'),
  max_line_chars: OUTPUT_FIELDS.maxLineChars
    .default(OUTPUT_DEFAULTS.maxLineChars)
    .describe('Our addition: display columns of a subtitle line'),
  max_cue_ms: OUTPUT_FIELDS.maxCueMs
    .default(OUTPUT_DEFAULTS.maxCueMs)
    .describe('Our addition: longest subtitle, in ms'),
};

const transcriptionForm = z.object({
  ...single,
  timestamp_granularities: z.array(granularity).default([...OUTPUT_DEFAULTS.timestampGranularities]),
});

/** A checked request. */
export type TranscriptionForm = z.infer<typeof transcriptionForm> & {
  /** What is wanted beside the text. */
  readonly include: readonly 'logprobs'[];
  /** Names and phrases that are likely to be said; those of the prompt where none are named. */
  readonly hotWords: readonly string[];
  readonly namedHotWords: readonly string[];
};

/** The body for the API description. */
export const transcriptionBody = z.object({
  ...z.object({
    file: z
      .string()
      .meta({ format: 'binary' })
      .describe('The recording, in any common format; its name does not matter'),
  }).shape,
  ...z.object(single).partial().shape,
  include: z
    .array(z.literal('logprobs'))
    .optional()
    .describe('With json: logprobs = how probable each token was; may be sent as include[]'),
  timestamp_granularities: z
    .array(granularity)
    .optional()
    .describe('With verbose_json; may be sent as timestamp_granularities[]'),
});

nameSchemas({ RecordingUpload: transcriptionBody });

/** @throws TrunklineError `invalid_request` with the field, its value and the expected value */
export function readForm(fields: Fields): TranscriptionForm {
  const { timestamp_granularities: granularities = [], ...others } = Object.fromEntries(fields);
  const singles = Object.fromEntries(Object.entries(others).map(([name, values]) => [name, values.at(-1)]));
  const arrays = granularities.length === 0 ? {} : { timestamp_granularities: granularities.flatMap(splitList) };
  const parsed = transcriptionForm.safeParse({ ...singles, ...arrays }, IN_PLAIN_WORDS);
  if (!parsed.success) throw explain(parsed.error, fields);
  const namedHotWords = readHotWords(fields);
  const hotWords = namedHotWords.length > 0 ? namedHotWords : hotWordsOfPrompt(parsed.data.prompt ?? '');
  return { ...parsed.data, include: readInclude(fields, parsed.data), hotWords, namedHotWords };
}

/**
 * Whether the answer to a form is a stream of events. At OpenAI the model for srt, vtt and verbose_json ignores
 * `stream` too.
 */
export function isStreamed({ stream, response_format }: TranscriptionForm): boolean {
  return stream && (response_format === 'json' || response_format === 'text');
}

/** As {@link readForm}; `language` is the language to translate into. */
export function readTranslationForm(fields: Fields): TranscriptionForm {
  const target = fields.get('target_language') ?? fields.get('language') ?? [];
  const others = [...fields].filter(([name]) => name !== 'language' && name !== 'stream');
  return readForm(new Map([...others, ['target_language', target]]));
}

/** As {@link readForm}, but always for subtitles. */
export function readSubtitleForm(fields: Fields): TranscriptionForm {
  const mode = fields.get('mode')?.at(-1) ?? '';
  if (mode !== '' && !SUBTITLE_MODES.includes(mode)) throw wrong('mode', mode, 'expected "accurate" or "fast"');
  return {
    ...readForm(new Map([...fields].filter(([name]) => name !== 'response_format' && name !== 'stream'))),
    response_format: 'srt',
  };
}

/** A client that cannot repeat a field may send a list as JSON or with commas. */
function splitList(value: string): string[] {
  return value
    .replace(/[[\]"\s]/g, '')
    .split(',')
    .filter((item) => item !== '');
}

function explain(error: z.ZodError, fields: Fields): TrunklineError {
  const [issue] = error.issues;
  const name = String(issue?.path[0] ?? 'body');
  const came = fields.get(name)?.at(-1);
  return wrong(name, came, issue?.message ?? 'not allowed');
}

function wrong(name: string, came: string | undefined, why: string): TrunklineError {
  return new TrunklineError(
    'invalid_request',
    `${name}: got ${describe(came)}${why.startsWith('expected') ? ',' : ';'} ${why}`,
    name,
  );
}

/** The field may be repeated, and spelt as in JSON. */
function readHotWords(fields: Fields): string[] {
  const given = ['hot_words', 'hotWords'].flatMap((name) => fields.get(name) ?? []);
  return requireHotWords(given.flatMap(splitHotWords), 'hot_words');
}

/** OpenAI's `include`: it knows log probabilities alone, and those with `json` alone. */
function readInclude(
  fields: Fields,
  { response_format: format }: Pick<TranscriptionForm, 'response_format'>,
): TranscriptionForm['include'] {
  const wanted = fields.get('include')?.flatMap(splitList) ?? [];
  const unknown = wanted.find((item) => item !== 'logprobs');
  if (unknown !== undefined) throw wrong('include', unknown, 'expected "logprobs"');
  if (wanted.length > 0 && format !== 'json')
    throw wrong('include', 'logprobs', `expected nothing with response_format ${format}: only json has them`);
  return wanted.length === 0 ? [] : ['logprobs'];
}
