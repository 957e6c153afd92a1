/** What flows say, as a server tells it. */
import { z } from 'zod';
import type { ServerClient } from '../server-client.ts';

const flowPrompt = z.object({
  id: z.string().regex(/^\w{1,64}$/),
  flow: z.string(),
  step: z.string().nullable(),
  part: z.string(),
  language: z.string(),
  voice: z.string().nullable(),
  text: z.string().nullable(),
  recording: z.string().nullable(),
  source: z.enum(['recorded', 'made', 'values']),
});

const recording = z.object({
  path: z.string(),
  language: z.string(),
  name: z.string(),
  durationMs: z.number().nullable(),
  error: z.string().nullable(),
});

/** A recording in FLOWS_DIR/prompts; `error` = why it is not used. */
export const recordingAnswer = recording;

/** A prompt of a flow. */
export type FlowPromptLine = z.infer<typeof flowPrompt>;
export type RecordingLine = z.infer<typeof recording>;

/** Which prompts are meant. */
export interface PromptFilter {
  readonly flow?: string;
  readonly language?: string;
}

const PAGE = 200;

/** The prompts that the filter lets through. @throws ServerRefused */
export async function readPrompts(server: ServerClient, { flow, language }: PromptFilter): Promise<FlowPromptLine[]> {
  const all = await readPages(server, '/v1/flow-prompts', flowPrompt);
  return all.filter(
    (prompt) =>
      (flow === undefined || prompt.flow === flow) &&
      (language === undefined || isIn(prompt.language.toLowerCase(), language.toLowerCase())),
  );
}

/** `de` is all of German. */
function isIn(language: string, asked: string): boolean {
  return language === asked || language.startsWith(`${asked}-`);
}

/** All recordings. @throws ServerRefused */
export function readRecordings(server: ServerClient): Promise<RecordingLine[]> {
  return readPages(server, '/v1/flow-recordings', recording);
}

/** The WAV file of a prompt. @throws ServerRefused */
export async function readSound(server: ServerClient, id: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of server.stream(`/v1/flow-prompts/${id}/sound`, new AbortController().signal))
    chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function readPages<T>(server: ServerClient, path: string, schema: z.ZodType<T>): Promise<T[]> {
  const page = z.object({ data: z.array(schema), next: z.string().nullable() });
  const found: T[] = [];
  let cursor = '';
  for (;;) {
    const { data, next } = await server.ask('GET', `${path}?limit=${PAGE}${cursor}`, page);
    found.push(...data);
    if (next === null) return found;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}
