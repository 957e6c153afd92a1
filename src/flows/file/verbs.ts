/** What the steps of a flow can do, as their writer gives it: one schema for each verb. */
import { z } from 'zod';
import { readJsonPath } from '../steps/json-path.ts';
import { conditionSchema, valueSchema, variableSchema } from './conditions.ts';
import { bargeInSchema, keySchema, nameSchema, promptSchema, textSchema } from './prompts.ts';

/** Where a flow goes on: a step of the same flow, or `end`, `back` (the question before), `repeat` (this step). */
const targetSchema = nameSchema;
const durationMs = (max: number) => z.number().int().min(0).max(max);
const urlSchema = z.string().min(1).max(2000);

/** A currency by its ISO 4217 code. */
export const currencySchema = z.string().regex(/^[A-Z]{3}$/, 'expected a currency such as EUR');

/** What happens when a question gets no answer, or none that fits: the prompt of each further try, then `next`. */
const fallbackSchema = z.strictObject({
  prompts: z.array(promptSchema).max(10).optional().describe('Of the first further try, the second, …'),
  next: targetSchema.optional().describe('Where the flow goes on after the last try'),
});

/** What all questions share. */
const question = {
  prompt: promptSchema,
  retries: z.number().int().min(0).max(10).optional().describe('Further tries, 2 unless given'),
  timeoutMs: durationMs(60_000).optional().describe('How long the caller may be silent after the prompt: 5000'),
  noInput: fallbackSchema.optional(),
  noMatch: fallbackSchema.optional(),
};

const say = promptSchema;

const fullPlay = z.strictObject({
  recording: nameSchema,
  text: z.string().max(2000).optional().describe('Said where there is no such recording in the language'),
  loop: z.number().int().min(1).max(1000).optional(),
  bargeIn: bargeInSchema.optional(),
});
const play = z.union([nameSchema.transform((recording): z.infer<typeof fullPlay> => ({ recording })), fullPlay]);

/** One word or phrase, or several. */
const wordsSchema = z.union([
  z
    .string()
    .min(1)
    .max(100)
    .transform((word) => [word]),
  z.array(z.string().min(1).max(100)).min(1).max(50),
]);

const fullChoice = z.strictObject({
  key: keySchema.optional(),
  say: wordsSchema.optional().describe('Words and phrases that choose it'),
  value: valueSchema.optional().describe('What `into` gets; the name of the choice unless given'),
  next: targetSchema.optional(),
});
/** Words alone are a choice that leads where the step's `next` says. */
const choiceSchema = z.union([wordsSchema.transform((say): z.infer<typeof fullChoice> => ({ say })), fullChoice]);

const menu = z.strictObject({
  ...question,
  choices: z.record(nameSchema, choiceSchema),
  into: variableSchema.optional(),
});

const gather = z.strictObject({
  ...question,
  kind: z.enum(['digits', 'text', 'number', 'date', 'time', 'yesNo', 'phone', 'amount', 'choice']),
  into: variableSchema,
  min: z
    .number()
    .optional()
    .describe('Fewest digits, the smallest number, or of dates the first day in days from today: 0 = not in the past'),
  max: z
    .number()
    .optional()
    .describe('Most digits, the greatest number, or of dates the last day in days from today: 1 = tomorrow'),
  terminator: z.enum(['#', '*', 'none']).optional().describe('The key that ends digits: # unless given'),
  interDigitMs: durationMs(30_000).optional().describe('How long the next key may take: 3000'),
  choices: z.record(nameSchema, wordsSchema).optional(),
  currency: currencySchema.optional().describe('Of an amount that names none: that of the flow unless given'),
  private: z.boolean().optional().describe('The answer is in no event and no log'),
});

const confirm = z.strictObject({ ...question, yes: targetSchema, no: targetSchema });

const branch = z.strictObject({
  when: z
    .array(
      z.strictObject({ if: z.union([conditionSchema, z.array(conditionSchema).min(1).max(20)]), next: targetSchema }),
    )
    .min(1)
    .max(100)
    .describe('The first whose condition is true; of a list of conditions all must be'),
  else: targetSchema.optional(),
});

const set = z.record(variableSchema, valueSchema);

const HOURS = /^([01]?\d|2[0-3]):[0-5]\d ?[-–] ?(([01]?\d|2[0-3]):[0-5]\d|24:00)$/;
const span = z.string().regex(HOURS, 'expected hours such as 09:00-17:30').transform(spanOf);
const day = z.union([span.transform((one) => [one]), z.array(span).max(10)]);
const hours = z.strictObject({
  timeZone: z
    .string()
    .optional()
    .describe('Of the IANA database, such as Europe/Berlin: that of the flow unless given'),
  week: z.strictObject({
    'monday-friday': day.optional().describe('Of each of these days that does not stand here itself'),
    'monday-saturday': day.optional(),
    'monday-sunday': day.optional(),
    'saturday-sunday': day.optional(),
    monday: day.optional(),
    tuesday: day.optional(),
    wednesday: day.optional(),
    thursday: day.optional(),
    friday: day.optional(),
    saturday: day.optional(),
    sunday: day.optional(),
  }),
  holidays: z
    .array(
      z.union([z.string(), z.strictObject({ date: z.string(), name: z.string().optional(), open: day.optional() })]),
    )
    .max(400)
    .optional()
    .describe('Days such as 2026-12-25, or 12-25 for every year; with `open` the shop has other hours'),
  open: targetSchema,
  closed: targetSchema,
  holiday: targetSchema.optional().describe('`closed` unless given'),
});

/** `9:00 - 17:00` as `09:00-17:00`. */
function spanOf(written: string): string {
  const times = written.split(/[-–]/).map((time) => time.trim().padStart(5, '0'));
  return times.join('-');
}

/** A path that is wrong is told with what came, and not in the first call. */
const jsonPathSchema = z.string().superRefine((path, context) => {
  try {
    readJsonPath(path);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});

const http = z.strictObject({
  url: urlSchema,
  method: z.enum(['GET', 'POST']).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  query: z.record(z.string(), valueSchema).optional(),
  body: z.record(z.string(), valueSchema).optional().describe('Sent as JSON'),
  timeoutMs: durationMs(30_000).optional().describe('5000'),
  take: z.record(variableSchema, jsonPathSchema).optional().describe('JSON paths (RFC 9535) into variables'),
  waiting: promptSchema.optional().describe('Said meanwhile'),
  failed: targetSchema.optional(),
});

const record = z.strictObject({
  prompt: promptSchema.optional(),
  into: variableSchema.optional().describe('Gets the name of the recording'),
  maxMs: durationMs(600_000).optional().describe('120000'),
  minMs: durationMs(60_000).optional().describe('Less is no message: 1000'),
  silenceMs: durationMs(30_000).optional().describe('Silence that ends it: 4000'),
  terminator: z.enum(['#', '*', 'any', 'none']).optional(),
  beep: z.boolean().optional(),
  transcript: z
    .union([z.boolean(), variableSchema])
    .optional()
    .describe('The variable that gets what was said; false = the webhook is told without it'),
  webhook: urlSchema.optional().describe('Told of the message, signed'),
  empty: targetSchema.optional().describe('Where the flow goes on when nothing was said'),
});

const fullLeaveMessage = z.strictObject({
  prompt: promptSchema,
  timeoutMs: durationMs(120_000).optional().describe('How long the end of the greeting is waited for: 60000'),
  failed: targetSchema.optional().describe('The greeting did not end'),
});
const leaveMessage = z.union([
  textSchema.transform((text): z.infer<typeof fullLeaveMessage> => ({ prompt: { text } })),
  fullLeaveMessage,
]);

const placeSchema = z.string().min(1).max(256);
const fullTransfer = z.strictObject({
  to: placeSchema.describe('A number, a SIP address, or context/extension of Asterisk'),
  from: z.string().max(256).optional().describe('The caller number that the other side sees'),
  prompt: promptSchema.optional(),
  timeoutMs: durationMs(120_000).optional().describe('How long it may ring: 30000'),
  handoffData: z.union([z.string(), z.record(z.string(), valueSchema)]).optional(),
  busy: targetSchema.optional().describe('They are busy; `failed` unless given'),
  noAnswer: targetSchema.optional().describe('Nobody answered in time; `failed` unless given'),
  failed: targetSchema.optional().describe('Nobody answered, or the carrier cannot'),
});
const transfer = z.union([placeSchema.transform((to): z.infer<typeof fullTransfer> => ({ to })), fullTransfer]);

const app = z.strictObject({
  url: urlSchema.optional().describe('APP_URL unless given'),
  greeting: z.string().max(2000).optional(),
  parameters: z.record(z.string(), valueSchema).optional(),
  into: variableSchema.optional().describe('Gets what the app hands over'),
  failed: targetSchema.optional(),
});

const queueMusic = z.strictObject({
  recording: nameSchema,
  announce: promptSchema.optional(),
  everyMs: durationMs(600_000).optional().describe('30000'),
  maxMs: durationMs(7_200_000).optional().describe('600000'),
  poll: http.omit({ waiting: true, failed: true }).optional().describe('Asked before each announcement'),
  until: conditionSchema.optional().describe('Ends the wait when it is true after an answer of `poll`'),
  timedOut: targetSchema.optional(),
});

const languageSchema = z.string().min(2).max(64);
const fullLanguage = z.strictObject({ to: languageSchema, voice: z.string().optional() });
const language = z.union([languageSchema.transform((to): z.infer<typeof fullLanguage> => ({ to })), fullLanguage]);

const fullHangup = z.strictObject({
  prompt: promptSchema.optional(),
  handoffData: z.union([z.string(), z.record(z.string(), valueSchema)]).optional(),
});
const hangup = z.union([
  textSchema.transform((text): z.infer<typeof fullHangup> => ({ prompt: { text } })),
  fullHangup,
]);

const fullFlow = z.strictObject({
  name: nameSchema,
  with: z.record(variableSchema, valueSchema).optional(),
  into: z.record(variableSchema, variableSchema).optional().describe('Our variables from those of the flow at its end'),
});
const flow = z.union([nameSchema.transform((name): z.infer<typeof fullFlow> => ({ name })), fullFlow]);

/** All verbs. A text in a value may hold variables: `Hello {name}`. */
export const VERB_SCHEMAS = {
  say: say.describe('Says a text, or plays a recording'),
  play: play.describe('Plays an own recording'),
  menu: menu.describe('Lets the caller choose, by a key or by voice'),
  gather: gather.describe('Asks for digits, a date, a number, …'),
  confirm: confirm.describe('Asks for yes or no'),
  branch: branch.describe('Goes on by what variables hold'),
  set: set.describe('Sets variables'),
  hours: hours.describe('Goes on by opening hours and holidays'),
  http: http.describe('Asks a web server'),
  record: record.describe('Records a message'),
  leaveMessage: leaveMessage.describe('Says something that an answering machine records, behind its beep'),
  transfer: transfer.describe('Puts the caller through'),
  app: app.describe('Hands over to a text app and back'),
  queueMusic: queueMusic.describe('Plays music while the caller waits'),
  language: language.describe('Changes the language'),
  hangup: hangup.describe('Ends the call'),
  flow: flow.describe('Calls another flow'),
} as const;

/** What a step does. */
export type FlowVerb = keyof typeof VERB_SCHEMAS;

/** The names of all verbs. */
export const FLOW_VERBS = Object.keys(VERB_SCHEMAS) as FlowVerb[];

/** What stands behind each verb, read. */
export type VerbFields = { readonly [Verb in FlowVerb]: z.infer<(typeof VERB_SCHEMAS)[Verb]> };
