/** Recordings of prompts, and sending them to a gateway. */
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { writeWav } from '../../src/audio/wav.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { type Prompt, promptCalls } from './prompts.ts';

const PAUSE_MS = [300, 1200] as const;

/** Prompts one after the other as one recording, and its words. */
export interface PromptRecording {
  readonly samples: Int16Array;
  readonly words: readonly string[];
}

/** About `seconds` of prompts, from the first of them on, over and over where there are too few. */
export function recordingOf(prompts: readonly Prompt[], seconds: number): PromptRecording {
  const chosen: Prompt[] = [];
  for (let length = 0; length < seconds; ) {
    const prompt = prompts[chosen.length % prompts.length];
    if (prompt === undefined) break;
    chosen.push(prompt);
    length += prompt.samples.length / LINE_RATE_HZ + (PAUSE_MS[0] + PAUSE_MS[1]) / 2000;
  }
  const [recording] = promptCalls(chosen, { promptsPerCall: chosen.length, pauseMs: PAUSE_MS });
  return recording ?? { samples: new Int16Array(0), words: [] };
}

/**
 * Sends a recording to the transcription endpoint at `url` and returns its text. Not by `fetch`, which gives up where
 * an answer takes more than five minutes to begin. @throws Error when it is refused
 */
export async function sendRecording(url: string, samples: Int16Array): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([writeWav([samples], LINE_RATE_HZ) as Uint8Array<ArrayBuffer>]), 'prompts.wav');
  const { headers, body } = new Response(form);
  const post = request(`${url}/v1/audio/transcriptions`, { method: 'POST', headers: Object.fromEntries(headers) });
  const answered = new Promise<string>((resolve, reject) => {
    post.on('error', reject).on('response', (response) => text(response).then(resolve, reject));
  });
  // A refusal may come before the whole form has gone out.
  pipeline(Readable.from(body ?? []), post).catch(() => undefined);
  const answer = JSON.parse(await answered) as { text?: string; error?: { message: string } };
  if (answer.text === undefined) throw new Error(`refused: ${answer.error?.message}`);
  return answer.text;
}
