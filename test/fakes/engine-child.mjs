/**
 * A pretend engine process that speaks engine/contract.ts. What it does with a transcribe job is written in the job:
 * its samples spell a word. What it does with a speak job its text says; the samples of the answer spell that of the
 * transcribe job. A text `one|two|word` has the sounds of `one` and `two` told early, if the job is streamed.
 *   die      ends itself by SIGKILL            hang     blocks its thread for ever
 *   quit     exits with code 0 unasked         hold     keeps the job until it is cancelled, released or drained
 *   deaf     closes its channel and lives on    fail     fails every held job, then answers itself
 *   cling    starts a process that keeps its channel open, then blocks its thread for ever
 *   pid      answers its process id            release  answers every held job, then itself
 *   seen     answers the words and urgencies of all jobs so far; any other word is answered as it is
 *   draft    answers the tokens and the text of its draft
 * `final-` before a word: an engine with the second recogniser alone obeys it, others answer with it. Answers of such
 * an engine are in capitals.
 * How it starts is written in the settings: provider `cuda` is refused (device 1: exit 42 without a word), with `auto`
 * device 1 is broken; 13 threads die while loading, 14 threads never get ready, 15 threads ignore `drain`, 16 threads
 * read three jobs in one run, 17 threads say where their loading is and never get ready.
 */

import { spawn } from 'node:child_process';

const EXIT_WRONG_SETTINGS = 42;
const BROKEN_GPU = 'running on the CPU: CUDA device 1 cannot be used';
/** The number of the channel among the files of a forked process. */
const CHANNEL_FD = 3;
const cost = { waitMs: 1, runMs: 10, runs: 1 };
const held = new Map();
const seen = [];
let settings;

function send(message) {
  process.send(message);
}

function blockForEver() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function becomeDeaf() {
  setInterval(() => undefined, 60_000);
  process.disconnect();
}

/**
 * Whoever holds the other end of the channel sees no end of it while that process lives. It names itself on the error
 * output.
 */
function cling() {
  const keeper = spawn('sleep', ['600'], { stdio: ['ignore', 'ignore', 'ignore', CHANNEL_FD], detached: true });
  process.stderr.write(`keeper ${keeper.pid}`, blockForEver);
}

const soundOf = (text) => ({ samples: Int16Array.from(text, (letter) => letter.charCodeAt(0)), rateHz: 16_000 });

function speak(job) {
  const early = job.text.split('|');
  const word = early.pop();
  if (job.streamed) for (const text of early) send({ kind: 'sound', id: job.id, ...soundOf(text) });
  obey(job, word);
}

function answer(job, text) {
  if (job.kind === 'speak') {
    send({ kind: 'spoken', id: job.id, ...soundOf(text), cost });
    return;
  }
  send({
    kind: 'transcribed',
    id: job.id,
    text: isFinal() ? text.toUpperCase() : text,
    tokens: [...job.draft],
    looped: false,
    cost,
  });
}

const isOnGpu = () => settings.executionProvider === 'auto' && settings.cudaDevice !== 1;

const isFinal = () => settings.role === 'final';

function releaseHeld() {
  for (const job of held.values()) answer(job, 'released');
  held.clear();
}

function failHeld() {
  for (const { id } of held.values())
    send({ kind: 'failed', id, code: 'model_failed', message: 'it was told to fail' });
  held.clear();
}

function start(configured) {
  settings = configured;
  if (settings.executionProvider === 'cuda') {
    if (settings.cudaDevice === 1) process.exit(EXIT_WRONG_SETTINGS);
    const message = 'CUDA libraries are missing: run npm run gpu:install';
    process.send({ kind: 'refused', code: 'cuda_missing', message }, () => process.exit(EXIT_WRONG_SETTINGS));
    return;
  }
  if (settings.threads === 13) process.exit(1);
  if (settings.threads === 14) return;
  if (settings.threads === 17) {
    send({ kind: 'loading', stage: 'the other models' });
    send({ kind: 'progress', text: 'the other models take a while' });
    return;
  }
  send({
    kind: 'ready',
    asrModel: 'tone',
    vadModel: 'tone',
    ttsModel: 'tone',
    turnModel: settings.turnModel === 'off' ? null : settings.turnModel,
    voices: [{ name: 'rms', language: 'en-US', rateHz: 16_000, model: 'tone', licence: 'none', cost: 0.01 }],
    asrLicence: 'none',
    languages: isFinal() ? ['en', 'de'] : ['en'],
    abilities: {
      drafts: true,
      wordTimes: true,
      logprobs: false,
      confidence: false,
      languageGuess: false,
      textDrafts: isFinal(),
      context: false,
      streams: true,
    },
    costs: {
      transcribe: { perJobMs: 2, perSecondMs: 6.15 },
      detect: { perJobMs: 0.5, perSecondMs: 3.9 },
      speak: { perJobMs: 3, perCharacterMs: 1 },
      turn: { perJobMs: 45, perSecondMs: 0.5 },
    },
    provider: isOnGpu() ? 'cuda' : 'cpu',
    batchMax: settings.threads === 16 ? 3 : 1,
    warning: settings.executionProvider === 'cpu' || isOnGpu() ? null : BROKEN_GPU,
    loadMs: 1,
    warmUpMs: 1,
  });
}

function obey(job, word) {
  seen.push(`${word}:${job.urgency}`);
  if (word === 'die') process.kill(process.pid, 'SIGKILL');
  else if (word === 'hang') blockForEver();
  else if (word === 'quit') process.exit(0);
  else if (word === 'deaf') becomeDeaf();
  else if (word === 'cling') cling();
  else if (word === 'hold') held.set(job.id, job);
  else if (word === 'pid') answer(job, String(process.pid));
  else if (word === 'draft') answer(job, `${job.draft.join()}/${job.draftText ?? ''}`);
  else if (word.startsWith('final-') && isFinal()) obey(job, word.slice('final-'.length));
  else if (word === 'seen') answer(job, seen.join(' '));
  else {
    if (word === 'release') releaseHeld();
    if (word === 'fail') failHeld();
    answer(job, word);
  }
}

/** The first sample, in thousandths, is how probable it is that the turn is over. */
function turn(job) {
  seen.push(`turn:${job.samples.length}`);
  send({ kind: 'turned', id: job.id, probability: job.samples[0] / 1000, cost });
}

/** Judges a window by its first sample, in thousandths; a state counts the windows of its track. */
function detect(job) {
  seen.push(`detect:${job.tracks.length}`);
  const tracks = job.tracks.map(({ samples, state }) => {
    const probabilities = Float32Array.from(
      { length: samples.length / 512 },
      (_, window) => samples[window * 512] / 1000,
    );
    return { probabilities, state: Float32Array.of((state?.[0] ?? 0) + probabilities.length) };
  });
  send({ kind: 'detected', id: job.id, tracks, cost });
}

function cancel(id) {
  if (!held.delete(id)) return;
  seen.push('cancelled');
  send({ kind: 'failed', id, code: 'cancelled', message: 'the job was cancelled' });
}

function hurry(id) {
  if (held.has(id)) seen.push('hurried');
}

function drain() {
  if (settings.threads === 15) return;
  releaseHeld();
  process.disconnect();
}

const handlers = {
  configure: (message) => start(message.settings),
  transcribe: (job) => obey(job, String.fromCharCode(...job.samples)),
  speak,
  detect,
  turn,
  cancel: (message) => cancel(message.id),
  hurry: (message) => hurry(message.id),
  hold: (message) => seen.push(message.isHeld ? 'held back' : 'let go on'),
  ask: () => send({ kind: 'alive' }),
  drain,
};

process.on('message', (message) => handlers[message.kind](message));
