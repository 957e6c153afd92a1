/** What was said, and how much of it was understood. */
import { readFileSync } from 'node:fs';
import { readWav, writeWav } from '../../src/audio/wav.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { countEdits, wordErrorRate } from '../bench/wer/align.ts';
import { normaliseWords } from '../bench/wer/normalise.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';

/** The path of a recording under fixtures/audio. */
export const recordingPath = (name: string): string => packagePath('fixtures', 'audio', `${name}.wav`);

/** The first channel of a recording under fixtures/audio, at its own rate. */
export function recording(name: string): Int16Array {
  return readWav(readFileSync(recordingPath(name))).channels[0] ?? new Int16Array(0);
}

/** What is said in it, or in its first `turns`. */
export function textOf(name: string, turns?: number): string {
  const texts = JSON.parse(readFileSync(packagePath('fixtures', 'audio', 'texts.json'), 'utf8')) as Record<
    string,
    string | string[]
  >;
  return [texts[name] ?? []].flat().slice(0, turns).join(' ');
}

/** Word error rate in percent. */
export function errorRate(said: string, heard: string): number {
  return wordErrorRate(countEdits(normaliseWords(said), normaliseWords(heard)));
}

/** What the gateway's own recogniser makes of sound at 8 kHz. @throws Error when it is refused */
export async function transcribe({ url }: GatewayProcess, samples: Int16Array): Promise<string> {
  const form = new FormData();
  form.set('model', 'moonshine-tiny');
  form.set('response_format', 'text');
  form.set('file', new Blob([Buffer.from(writeWav([samples], LINE_RATE_HZ))]), 'heard.wav');
  const response = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the transcription was answered with ${response.status}: ${text}`);
  return text;
}

/**
 * Has the gateway say `text` in a call, whatever it still hears: on a slow machine its ears are behind the caller.
 * @throws Error when it is refused
 */
export async function sayWhole({ url }: GatewayProcess, callId: string, text: string): Promise<void> {
  const response = await fetch(`${url}/v1/calls/${callId}/say`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text, interruptible: false }),
  });
  if (response.status !== 202) throw new Error(`say was answered with ${response.status}: ${await response.text()}`);
}
