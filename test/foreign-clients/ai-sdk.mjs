// Vercel's AI SDK with its provider of OpenAI: a recording as text, a text as speech, heard again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { generateSpeech, transcribe } = await import(process.env.CLIENT);
const { createOpenAI } = await import('@ai-sdk/openai');
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const SENTENCE = 'Please leave a message after the tone.';

const openai = createOpenAI({ baseURL: `${TRUNKLINE_URL}/v1`, apiKey: TRUNKLINE_KEY });
const wrong = createOpenAI({ baseURL: `${TRUNKLINE_URL}/v1`, apiKey: 'wrong' });

function hear(provider, audio, model = 'whisper-1') {
  return transcribe({ model: provider.transcription(model), audio, maxRetries: 0 });
}

const recording = readFileSync(join(AUDIO_DIR, 'short.wav'));
const file = await hear(openai, recording);
const speech = await generateSpeech({
  model: openai.speech('tts-1'),
  text: SENTENCE,
  voice: 'alloy',
  outputFormat: 'wav',
});
const refusal = await hear(wrong, recording).catch((error) => error.statusCode);
console.log(
  JSON.stringify({
    text: file.text,
    words: file.segments.length,
    seconds: file.durationInSeconds,
    spoken: (await hear(openai, speech.audio.uint8Array, 'gpt-4o-transcribe')).text,
    type: speech.audio.mediaType,
    refusal,
  }),
);
process.exit(0);
