/**
 * The frames of ConversationRelay (https://www.twilio.com/docs/voice/conversationrelay/websocket-messages). We take the
 * platform's side. Each text message holds one JSON object. Pure: text in, frames out.
 */
import { z } from 'zod';
import { IN_PLAIN_WORDS } from '../../foundation/settings/plain-issues.ts';
import type { AnswerNews } from '../answered/answered-by.ts';

/** Describes the call; the first frame of every connection. Unknown fields are ''. */
export interface SetupFrame {
  readonly type: 'setup';
  /** The same on every connection of one call. */
  readonly sessionId: string;
  readonly accountSid: string;
  readonly parentCallSid: string;
  readonly callSid: string;
  readonly from: string;
  readonly to: string;
  readonly forwardedFrom: string;
  readonly callerName: string;
  readonly direction: 'inbound' | 'outbound-api';
  readonly callType: 'PSTN' | 'SIP' | 'CLIENT';
  readonly callStatus: 'IN_PROGRESS';
  readonly customParameters: Readonly<Record<string, string>>;
}

/** What the caller said. While `last` is false, the caller is still speaking, and each prompt holds all text so far. */
export interface PromptFrame {
  readonly type: 'prompt';
  readonly voicePrompt: string;
  readonly lang: string;
  readonly last: boolean;
}

/** The caller interrupted. Speech that was not played yet is dropped. */
export interface InterruptFrame {
  readonly type: 'interrupt';
  readonly utteranceUntilInterrupt: string;
  readonly durationUntilInterruptMs: number;
}

/** Every frame that we send to an app. */
export type FrameToApp =
  | SetupFrame
  | PromptFrame
  | InterruptFrame
  | { readonly type: 'dtmf'; readonly digit: string }
  | { readonly type: 'error'; readonly description: string }
  | {
      readonly type: 'info';
      readonly name: 'agentSpeaking' | 'clientSpeaking' | 'tokensPlayed' | 'muted' | AnswerNews['type'];
      readonly value: string;
    };

const SOURCE_MAX_CHARS = 2048;
const DIGITS_MAX = 100;
const HANDOFF_MAX_CHARS = 8192;
const LOOP_MAX = 1000;
/** Longest description of an error in a frame. It may repeat text of the app, which can be anything. */
const DESCRIPTION_MAX_CHARS = 300;

/** The parts of BCP 47 that matter here. */
const language = z.string().regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, 'expected a language such as en-US');
const interruptible = z
  .union([z.boolean(), z.enum(['none', 'dtmf', 'speech', 'any'])], 'expected true, false, none, dtmf, speech or any')
  .optional();
const preemptible = z.boolean().optional();

const digitCount = z.int().min(1).max(DIGITS_MAX).optional();
/** What a talk cycle asks the caller for: an extension of ours. */
const expects = z
  .object({
    digits: z
      .object({ min: digitCount, max: digitCount })
      .refine(({ min = 1, max = DIGITS_MAX }) => min <= max, 'expected min to be at most max'),
  })
  .optional();

const text = z.object({
  type: z.literal('text'),
  token: z.string(),
  last: z.boolean().default(false),
  lang: language.optional(),
  interruptible,
  preemptible,
  expects,
});

const play = z.object({
  type: z.literal('play'),
  source: z.string().max(SOURCE_MAX_CHARS).refine(isHttpUrl, 'expected an http or https URL'),
  loop: z
    .int()
    .min(0)
    .max(LOOP_MAX)
    .default(1)
    .transform((times) => (times === 0 ? LOOP_MAX : times)),
  interruptible,
  preemptible,
  expects,
});

const sendDigits = z.object({
  type: z.literal('sendDigits'),
  digits: z.string().regex(new RegExp(`^[0-9*#w]{1,${DIGITS_MAX}}$`), `expected 1 to ${DIGITS_MAX} of 0-9, *, # and w`),
});

const languages = z
  .object({ type: z.literal('language'), ttsLanguage: language.optional(), transcriptionLanguage: language.optional() })
  .refine(
    (frame) => frame.ttsLanguage !== undefined || frame.transcriptionLanguage !== undefined,
    'expected ttsLanguage or transcriptionLanguage',
  );

const end = z.object({ type: z.literal('end'), handoffData: z.string().max(HANDOFF_MAX_CHARS).optional() });

/** Unknown fields are ignored, because newer apps may send them. Known fields must be valid. */
const appFrame = z.discriminatedUnion('type', [text, play, sendDigits, languages, end]);

/** A frame that an app sends. `loop` is the number of times to play, 1 to 1000. */
export type AppFrame = z.infer<typeof appFrame>;
/** A piece of an answer; `last` ends the talk cycle. */
export type TextFrame = z.infer<typeof text>;
/** A recording to play. It is a talk cycle of its own. */
export type PlayFrame = z.infer<typeof play>;
/** Changes the language in which we speak to the caller, or in which we transcribe. */
export type LanguageFrame = z.infer<typeof languages>;

/** The app ends the session. */
export type EndFrame = z.infer<typeof end>;

/** A frame that is invalid. The description repeats little of its text. */
export interface Malformed {
  readonly type: 'malformed';
  readonly description: string;
}

/** Reads one text message of an app. Never throws. */
export function readAppFrame(message: string): AppFrame | Malformed {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    return malformed('expected a JSON object, got text that is not JSON');
  }
  const parsed = appFrame.safeParse(value, IN_PLAIN_WORDS);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return malformed(where + explain(issue));
}

/** Describes an invalid message: `what` was expected and received. */
export function malformed(what: string): Malformed {
  return { type: 'malformed', description: `Invalid message received: ${what}`.slice(0, DESCRIPTION_MAX_CHARS) };
}

function explain(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'it cannot be read';
  if (issue.code === 'invalid_union' && issue.path[0] === 'type')
    return 'expected text, play, sendDigits, language or end';
  return issue.message;
}

function isHttpUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}
