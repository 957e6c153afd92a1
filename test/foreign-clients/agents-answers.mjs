// OpenAI's agents SDK for Node: an agent with a tool, which speaks, and is interrupted.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

const { RealtimeAgent, RealtimeSession, tool } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const WAV_HEAD_BYTES = 44;
const MESSAGE_MS = 100;
const RATE_HZ = 8000;
const OUT_RATE_HZ = 24000;
const SILENCE_MS = 1500;
const HEARD_MS = 1500;

const seen = { tool: null, interrupted: false, truncated: false };
const errors = [];
const answers = new Map();
const saveMessage = tool({
  name: 'save_message',
  description: 'Saves what the caller said.',
  parameters: z.object({ caller: z.string() }),
  execute(args) {
    seen.tool = args;
    return 'saved';
  },
});
const agent = new RealtimeAgent({ name: 'clerk', instructions: 'Be brief.', tools: [saveMessage] });
const session = new RealtimeSession(agent, {
  transport: 'websocket',
  model: 'gpt-realtime',
  config: {
    audio: {
      input: { format: { type: 'audio/pcm', rate: RATE_HZ }, turnDetection: { type: 'server_vad' } },
      output: { format: { type: 'audio/pcm', rate: OUT_RATE_HZ } },
    },
  },
});
session.on('error', (error) => errors.push(JSON.stringify(error)));
session.transport.on('audio', ({ data, responseId }) => {
  answers.set(responseId, [...(answers.get(responseId) ?? []), Buffer.from(data)]);
});
session.on('audio_interrupted', () => {
  seen.interrupted = true;
});
const dones = [];
session.on('transport_event', ({ type, response }) => {
  if (type === 'conversation.item.truncated') seen.truncated = true;
  if (type === 'response.done') dones.push(response.status);
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
    const part = sound.subarray(at, at + messageBytes);
    session.sendAudio(part.buffer.slice(part.byteOffset, part.byteOffset + part.length));
    await pause(MESSAGE_MS);
  }
}

async function hear(parts) {
  const query = `encoding=linear16&sample_rate=${OUT_RATE_HZ}&punctuate=true`;
  const response = await fetch(`${TRUNKLINE_URL}/v1/listen?${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TRUNKLINE_KEY}` },
    body: Buffer.concat(parts),
  });
  return (await response.json()).results.channels[0].alternatives[0].transcript;
}

const url = `${TRUNKLINE_URL.replace('http', 'ws')}/v1/realtime?model=gpt-realtime`;
await session.connect({ apiKey: TRUNKLINE_KEY, url });
await say();
await until(() => answers.size === 1);
await pause(HEARD_MS);
await say();
await until(() => answers.size === 2 && dones.length === 3);
const [told, last] = await Promise.all([...answers.values()].map(hear));
const roles = session.history.map(({ type, role }) => role ?? type);
console.log(JSON.stringify({ ...seen, told, last, roles, dones, errors }));
process.exit(0);
