// A browser's MediaRecorder: what it makes of the microphone goes to Deepgram's live recognition as it is (WebM, Opus).
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const { chromium } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const RECORDED_MS = 5000;
const PIECE_MS = 250;

/** Runs in the page. */
async function listen({ url, key, recordedMs, pieceMs }) {
  const socket = new WebSocket(url, ['token', key]);
  const finals = [];
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === 'Results' && message.is_final) finals.push(message.channel.alternatives[0].transcript);
  };
  const closed = new Promise((resolve) => {
    socket.onclose = ({ code }) => resolve(code);
  });
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(microphone, { mimeType: 'audio/webm;codecs=opus' });
  recorder.ondataavailable = ({ data }) => socket.send(data);
  const stopped = new Promise((resolve) => {
    recorder.onstop = resolve;
  });
  recorder.start(pieceMs);
  await new Promise((resolve) => setTimeout(resolve, recordedMs));
  recorder.stop();
  await stopped;
  socket.send(JSON.stringify({ type: 'CloseStream' }));
  return { closed: await closed, text: finals.join(' ').trim(), type: recorder.mimeType };
}

const microphone = `--use-file-for-fake-audio-capture=${join(AUDIO_DIR, 'short.wav')}%noloop`;
const args = ['--no-sandbox', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', microphone];
const browser = await chromium.launch({ executablePath: PLACES.find(existsSync), args });
const page = await browser.newPage();
// Pages have a microphone where they are loaded from somewhere.
await page.goto(TRUNKLINE_URL);
const url = `${TRUNKLINE_URL.replace('http', 'ws')}/v1/listen?punctuate=true`;
const options = { url, key: TRUNKLINE_KEY, recordedMs: RECORDED_MS, pieceMs: PIECE_MS };
console.log(JSON.stringify(await page.evaluate(listen, options)));
await browser.close();
process.exit(0);
