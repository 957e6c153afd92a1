// LiveKit's realtime model for OpenAI, for Node: a tool is called, its answer is heard, and an interruption cuts it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { initializeLogger, llm } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';
import { z } from 'zod';

const { realtime } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const WAV_HEAD_BYTES = 44;
const RATE_HZ = 24000;
const TIMES = 3;
const OUT_RATE_HZ = 24000;
const FRAME_MS = 100;
const SILENCE_MS = 1500;
const HEARD_MS = 1500;

initializeLogger({ pretty: false, level: 'fatal' });
const seen = { tool: null, interrupted: false, truncated: false };
const errors = [];
const answers = [];
const saveMessage = llm.tool({
  name: 'save_message',
  description: 'Saves what the caller said.',
  parameters: z.object({ caller: z.string() }),
  execute: async () => 'saved',
});
const model = new realtime.RealtimeModel({
  apiKey: TRUNKLINE_KEY,
  baseURL: `${TRUNKLINE_URL}/v1`,
  turnDetection: { type: 'server_vad' },
});
const session = model.session();

async function follow({ messageStream, functionStream }) {
  const messages = async () => {
    for await (const { messageId, audioStream } of messageStream) {
      const answer = { id: messageId, fromMs: performance.now(), parts: [], isDone: false };
      for await (const { data } of audioStream) {
        if (answer.parts.length === 0) answers.push(answer);
        answer.parts.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
      }
      answer.isDone = true;
    }
  };
  const calls = async () => {
    for await (const { callId, name, args } of functionStream) {
      seen.tool = JSON.parse(args);
      const context = session.chatCtx.copy();
      context.insert(llm.FunctionCallOutput.create({ callId, name, output: 'saved', isError: false }));
      await session.updateChatCtx(context);
      session.generateReply().catch((error) => errors.push(error.message));
    }
  };
  await Promise.all([messages(), calls()]);
}

session.on('generation_created', (event) => follow(event).catch((error) => errors.push(error.message)));
session.on('error', ({ error }) => errors.push(error.message));
session.on('openai_server_event_received', ({ type }) => {
  if (type === 'conversation.item.truncated') seen.truncated = true;
});
session.on('input_speech_started', () => {
  const last = answers.at(-1);
  if (last === undefined || last.isDone) return;
  seen.interrupted = true;
  session.interrupt();
  session.truncate({
    messageId: last.id,
    audioEndMs: Math.floor(performance.now() - last.fromMs),
    modalities: ['text', 'audio'],
  });
});

async function until(holds) {
  for (let tries = 0; tries < 600 && !holds(); tries++) await pause(FRAME_MS);
}

/** Each sample three times over: the SDK has one rate. */
async function say() {
  const wav = readFileSync(join(AUDIO_DIR, 'short.wav')).subarray(WAV_HEAD_BYTES);
  const from = new Int16Array(Uint8Array.from(wav).buffer);
  const samples = new Int16Array(from.length * TIMES + (RATE_HZ * SILENCE_MS) / 1000);
  for (let at = 0; at < from.length * TIMES; at++) samples[at] = from[Math.floor(at / TIMES)];
  const length = (RATE_HZ * FRAME_MS) / 1000;
  for (let at = 0; at + length <= samples.length; at += length) {
    session.pushAudio(new AudioFrame(samples.slice(at, at + length), RATE_HZ, 1, length));
    await pause(FRAME_MS);
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

await session.updateInstructions('Be brief.');
await session.updateTools(new llm.ToolContext([saveMessage]));
await say();
await until(() => answers.length === 1);
await pause(HEARD_MS);
await say();
await until(() => answers.length === 2 && answers[1].isDone);
const [told, last] = await Promise.all(answers.map(hear));
console.log(JSON.stringify({ ...seen, told, last, errors }));
process.exit(0);
