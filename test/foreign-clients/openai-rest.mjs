// OpenAI's client for Node, by its address alone.
import { createReadStream } from 'node:fs';
import { join } from 'node:path';

const { default: OpenAI } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const openai = new OpenAI({ baseURL: `${TRUNKLINE_URL}/v1`, apiKey: TRUNKLINE_KEY, maxRetries: 0 });
const file = () => createReadStream(join(AUDIO_DIR, 'short.wav'));
const model = 'gpt-4o-transcribe';

const whole = await openai.audio.transcriptions.create({ file: file(), model });
const verbose = await openai.audio.transcriptions.create({
  file: file(),
  model: 'whisper-1',
  response_format: 'verbose_json',
  timestamp_granularities: ['word'],
});
let deltas = '';
let done = null;
for await (const event of await openai.audio.transcriptions.create({ file: file(), model, stream: true })) {
  if (event.type === 'transcript.text.delta') deltas += event.delta;
  else done = event.text;
}
const speech = await openai.audio.speech.create({
  model: 'tts-1',
  voice: 'alloy',
  input: 'Hello.',
  response_format: 'wav',
});
const sound = Buffer.from(await speech.arrayBuffer());
const wrong = new OpenAI({ baseURL: `${TRUNKLINE_URL}/v1`, apiKey: 'wrong', maxRetries: 0 });
const refusal = await wrong.models.list().catch((error) => `${error.constructor.name} ${error.status}`);

console.log(
  JSON.stringify({
    text: whole.text,
    words: verbose.words.length,
    streamed: deltas === done ? done : { deltas, done },
    speech: sound.subarray(0, 4).toString(),
    refusal,
  }),
);
