/**
 * The frames of ConversationRelay (https://www.twilio.com/docs/voice/conversationrelay/websocket-messages), spoken from
 * the platform's side: one JSON object in each text message. Pure: text in, frames out.
 */
import { z } from 'zod';
import { IN_PLAIN_WORDS } from '../../foundation/settings/plain-issues.ts';

/** Who calls whom; the first frame of every connection. What is not known is ''. */
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
  readonly direction: 'inbound';
  readonly callType: 'PSTN' | 'SIP' | 'CLIENT';
  readonly callStatus: 'IN_PROGRESS';
  readonly customParameters: Readonly<Record<string, string>>;
}

/** What the caller said; with `last` false what is being said, from its beginning. */
export interface PromptFrame {
  readonly type: 'prompt';
  readonly voicePrompt: string;
  readonly lang: string;
  readonly last: boolean;
}

/** The caller cut in. What was still to be said is thrown away. */
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
      readonly name: 'agentSpeaking' | 'clientSpeaking' | 'tokensPlayed';
      readonly value: string;
    };

const SOURCE_MAX_CHARS = 2048;
const DIGITS_MAX = 100;
const HANDOFF_MAX_CHARS = 8192;
const LOOP_MAX = 1000;
/** Longest description of what is wrong with a frame: an app may put anything into it. */
const DESCRIPTION_MAX_CHARS = 300;

/** BCP 47, as far as it matters here. */
const language = z.string().regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, 'expected a language such as en-US');
const interruptible = z
  .union([z.boolean(), z.enum(['none', 'dtmf', 'speech', 'any'])], 'expected true, false, none, dtmf, speech or any')
  .optional();
const preemptible = z.boolean().optional();

const text = z.object({
  type: z.literal('text'),
  token: z.string(),
  last: z.boolean().default(false),
  lang: language.optional(),
  interruptible,
  preemptible,
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

/** Unknown fields are passed over, as newer apps may have them; known ones must be right. */
const appFrame = z.discriminatedUnion('type', [text, play, sendDigits, languages, end]);

/** What an app says. `loop` counts how often, 1 to 1000. */
export type AppFrame = z.infer<typeof appFrame>;
/** A piece of an answer; `last` ends the talk cycle. */
export type TextFrame = z.infer<typeof text>;
/** A recording to be played: a talk cycle of its own. */
export type PlayFrame = z.infer<typeof play>;
/** From here on the caller is spoken to, or understood, in another language. */
export type LanguageFrame = z.infer<typeof languages>;

/** What was wrong with a frame; it repeats little of it. */
export interface Malformed {
  readonly type: 'malformed';
  readonly description: string;
}

/** One text message of an app. Never throws. */
export function readAppFrame(message: string): AppFrame | Malformed {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    return malformed('expected a JSON object, got text that is no JSON');
  }
  const parsed = appFrame.safeParse(value, IN_PLAIN_WORDS);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return malformed(where + explain(issue));
}

/** What there is to say about a message that is not even text. */
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
