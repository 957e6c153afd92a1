/** What simulated callers say, made by a gateway's own voices. */
import { readWav } from '../audio/wav.ts';
import { MULAW_8K } from '../foundation/units.ts';

/** `input` in `voice`, at 8 kHz. @throws Error when the gateway at `url` does not make it */
export async function callerSpeech(url: string, input: string, voice: string): Promise<Int16Array> {
  const body = { model: 'tts-1', input, voice, response_format: 'wav', sample_rate: MULAW_8K.rateHz };
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/v1/audio/speech`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`the caller's lines could not be synthesized: ${await response.text()}`);
  return readWav(new Uint8Array(await response.arrayBuffer())).channels[0] ?? new Int16Array(0);
}
