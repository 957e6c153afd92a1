// OpenAI's SDK for Node: a session that speaks. A tool is called, its answer is heard, and an interruption cuts it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const { OpenAI } = await import(process.env.CLIENT);
const { OpenAIRealtimeWS } = await import(`${process.env.CLIENT}/realtime/ws`);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const WAV_HEAD_BYTES = 44;
const MESSAGE_MS = 100;
const RATE_HZ = 8000;
const OUT_RATE_HZ = 24000;
const SILENCE_MS = 1500;
const HEARD_MS = 1500;

const client = new OpenAI({ apiKey: TRUNKLINE_KEY, baseURL: `${TRUNKLINE_URL}/v1` });
const realtime = new OpenAIRealtimeWS({ model: 'gpt-realtime' }, client);
const errors = [];
const dones = [];
const answers = [];
const seen = { tool: null, truncated: false };
realtime.on('error', (error) => errors.push(error.message));
realtime.on('response.output_audio.delta', ({ item_id, delta }) => {
  if (answers.at(-1)?.id !== item_id) answers.push({ id: item_id, parts: [], fromMs: performance.now() });
  answers.at(-1).parts.push(Buffer.from(delta, 'base64'));
});
realtime.on('response.function_call_arguments.done', ({ call_id, name, arguments: args }) => {
  seen.tool = { name, args: JSON.parse(args) };
  realtime.send({
    type: 'conversation.item.create',
    item: { type: 'function_call_output', call_id, output: '"saved"' },
  });
  realtime.send({ type: 'response.create' });
});
realtime.on('response.done', ({ response: { status, status_details: details } }) =>
  dones.push(details?.reason ? `${status}: ${details.reason}` : status),
);
realtime.on('input_audio_buffer.speech_started', () => {
  const last = answers.at(-1);
  if (last === undefined) return;
  const end = Math.floor(performance.now() - last.fromMs);
  realtime.send({ type: 'conversation.item.truncate', item_id: last.id, content_index: 0, audio_end_ms: end });
});
realtime.on('conversation.item.truncated', () => {
  seen.truncated = true;
});
await new Promise((resolve) => realtime.on('session.created', resolve));
realtime.send({
  type: 'session.update',
  session: {
    type: 'realtime',
    instructions: 'Be brief.',
    audio: {
      input: { format: { type: 'audio/pcm', rate: RATE_HZ }, turn_detection: { type: 'server_vad' } },
      output: { format: { type: 'audio/pcm', rate: OUT_RATE_HZ }, voice: 'marin' },
    },
    tools: [
      {
        type: 'function',
        name: 'save_message',
        description: 'Saves what the caller said.',
        parameters: { type: 'object', properties: { caller: { type: 'string' } }, required: ['caller'] },
      },
    ],
  },
});

async function until(holds) {
  for (let tries = 0; tries < 600 && !holds(); tries++) await pause(MESSAGE_MS);
}

async function say() {
  const sound = Buffer.concat([
    readFileSync(join(AUDIO_DIR, 'short.wav')).subarray(WAV_HEAD_BYTES),
    Buffer.alloc((2 * RATE_HZ * SILENCE_MS) / 1000),
  ]);
  const messageBytes = (2 * RATE_HZ * MESSAGE_MS) / 1000;
  for (let at = 0; at < sound.length; at += messageBytes) {
    const audio = sound.subarray(at, at + messageBytes).toString('base64');
    realtime.send({ type: 'input_audio_buffer.append', audio });
    await pause(MESSAGE_MS);
  }
}

async function hear({ parts }) {
  const query = `encoding=linear16&sample_rate=${OUT_RATE_HZ}&punctuate=true`;
  const response = await fetch(`${TRUNKLINE_URL}/v1/listen?${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TRUNKLINE_KEY}` },
    body: Buffer.concat(parts),
  });
  return (await response.json()).results.channels[0].alternatives[0].transcript;
}

await say();
await until(() => answers.length === 1);
await pause(HEARD_MS);
await say();
await until(() => answers.length === 2 && dones.length === 3);
const [told, last] = await Promise.all(answers.map(hear));
realtime.close();
console.log(JSON.stringify({ ...seen, told, last, dones, errors }));
process.exit(0);
