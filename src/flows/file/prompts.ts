/** What a step says, as its writer gives it. */
import { z } from 'zod';

/** Longer texts belong into several steps. */
export const PROMPT_MAX_CHARS = 2000;

/** What may cut a prompt off: keys, speech, both or nothing. */
export const bargeInSchema = z.enum(['any', 'keys', 'speech', 'none']);

const EXPECTED_KEY = 'expected one key: 0 to 9, "*" or "#" (these in quotes)';

/** Names a step, a flow, a variable or a recording. */
export const nameSchema = z
  .string()
  .regex(/^[A-Za-z][\w-]{0,63}$/, 'expected a name: a letter, then letters, digits, _ or -, 64 characters at most');

/** A key of a telephone. YAML reads 1 as a number, and # outside of quotes as the beginning of a comment. */
export const keySchema = z.union([
  z.number().int().min(0, EXPECTED_KEY).max(9, EXPECTED_KEY).transform(String),
  z.string(EXPECTED_KEY).regex(/^[0-9*#]$/, EXPECTED_KEY),
]);

/** A text that is said. */
export const textSchema = z.string().min(1).max(PROMPT_MAX_CHARS);

const fullPromptSchema = z.strictObject({
  text: textSchema
    .optional()
    .describe('What is said. {name} is the value of a variable, <break time="500ms"/> is a pause'),
  recording: nameSchema.optional().describe('A file of prompts/<language>/ that is played in place of the text'),
  voice: z.string().optional(),
  speed: z.number().min(0.25).max(4).optional(),
  bargeIn: bargeInSchema.optional().describe('What of the caller may cut it off; as the flow says where left out'),
});

/** A text, or a text and how it is said. One of `text` and `recording` is there. */
export const promptSchema = z
  .union([textSchema.transform((text) => ({ text })), fullPromptSchema])
  .refine(
    (prompt) => prompt.text !== undefined || ('recording' in prompt && prompt.recording !== undefined),
    'expected text, recording, or both',
  );

/** A prompt, read. */
export interface FlowPrompt extends z.infer<typeof fullPromptSchema> {}

/** What may cut a prompt off, as flows name it. */
export type FlowBargeIn = z.infer<typeof bargeInSchema>;
