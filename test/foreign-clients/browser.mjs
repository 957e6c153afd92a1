// A browser's own WebSocket, which can send a key as a subprotocol alone: Deepgram's live recognition, and Realtime.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const { chromium } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const WAV_HEAD_BYTES = 44;
const RATE_HZ = 8000;
const SILENCE_MS = 1500;

/** Runs in the page. */
async function listen({ url, key, sound, frameBytes, frameMs }) {
  const bytes = Uint8Array.from(atob(sound), (char) => char.charCodeAt(0));
  const socket = new WebSocket(url, ['token', key]);
  const messages = [];
  socket.onmessage = ({ data }) => messages.push(JSON.parse(data));
  const closed = new Promise((resolve) => {
    socket.onclose = ({ code }) => resolve(code);
  });
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });
  for (let at = 0; at < bytes.length; at += frameBytes) {
    socket.send(bytes.slice(at, at + frameBytes));
    await new Promise((resolve) => setTimeout(resolve, frameMs));
  }
  socket.send(JSON.stringify({ type: 'CloseStream' }));
  const code = await closed;
  const finals = messages.filter(({ type, is_final }) => type === 'Results' && is_final);
  const text = finals.map(({ channel }) => channel.alternatives[0].transcript).join(' ');
  return { text: text.trim(), protocol: socket.protocol, closed: code };
}

/** Runs in the page. */
async function converse({ url, key, sound, messageChars, messageMs }) {
  const socket = new WebSocket(url, ['realtime', `openai-insecure-api-key.${key}`]);
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });
  const types = [];
  const transcript = new Promise((resolve) => {
    socket.onmessage = ({ data }) => {
      const event = JSON.parse(data);
      if (!types.includes(event.type) && !event.type.endsWith('.delta')) types.push(event.type);
      if (event.type.endsWith('.completed')) resolve(event.transcript);
    };
  });
  const input = { format: { type: 'audio/pcm', rate: 8000 }, turn_detection: { type: 'server_vad' } };
  const session = { type: 'transcription', audio: { input: { ...input, transcription: { model: 'any' } } } };
  socket.send(JSON.stringify({ type: 'session.update', session }));
  for (let at = 0; at < sound.length; at += messageChars) {
    const audio = sound.slice(at, at + messageChars);
    socket.send(JSON.stringify({ type: 'input_audio_buffer.append', audio }));
    await new Promise((resolve) => setTimeout(resolve, messageMs));
  }
  return { transcript: await transcript, protocol: socket.protocol, types };
}

/** Runs in the page. */
function refuse({ url, protocols }) {
  const socket = new WebSocket(url, protocols);
  return new Promise((resolve) => {
    socket.onopen = () => resolve('open');
    socket.onclose = ({ code }) => resolve(code);
  });
}

const sound = Buffer.concat([
  readFileSync(join(AUDIO_DIR, 'short.wav')).subarray(WAV_HEAD_BYTES),
  Buffer.alloc((2 * RATE_HZ * SILENCE_MS) / 1000),
]).toString('base64');
const ws = TRUNKLINE_URL.replace('http', 'ws');
const live = `${ws}/v1/listen?encoding=linear16&sample_rate=${RATE_HZ}&punctuate=true`;
const realtime = `${ws}/v1/realtime?model=any`;
const browser = await chromium.launch({ executablePath: PLACES.find(existsSync), args: ['--no-sandbox'] });
const page = await browser.newPage();
// 20 ms, and 150 ms of base64.
const heard = await page.evaluate(listen, { url: live, key: TRUNKLINE_KEY, sound, frameBytes: 320, frameMs: 20 });
const said = { url: realtime, key: TRUNKLINE_KEY, sound, messageChars: 3200, messageMs: 150 };
const session = await page.evaluate(converse, said);
const refusals = [
  await page.evaluate(refuse, { url: live, protocols: ['token', 'a-wrong-key'] }),
  await page.evaluate(refuse, { url: realtime, protocols: ['realtime', 'openai-insecure-api-key.wrong'] }),
];
await browser.close();
console.log(JSON.stringify({ listen: heard, realtime: session, refusals }));
process.exit(0);
