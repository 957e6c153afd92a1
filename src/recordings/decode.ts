/** A file as 16 kHz audio, a few seconds at a time, decoded outside of the gateway's own thread. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { detectAudio } from '../audio/detect.ts';
import type { Clock } from '../clock.ts';
import { DiskError } from '../disk.ts';
import { TrunklineError } from '../errors.ts';
import { packagePath } from '../paths.ts';
import type { DecodedStretch, DecodeTask, FromDecodeWorker } from './decode-messages.ts';
import { convertWithFfmpeg } from './ffmpeg.ts';
import { readHead } from './head.ts';

/** Decoding a few seconds takes milliseconds; a decoder that says nothing for so long goes round in circles. */
const SILENCE_MAX_MS = 60_000;
/** Of the thread's own memory; the codecs' buffers come on top and are bounded by what they are given. */
const THREAD_HEAP_MB = 128;

/** A file to decode. */
export interface DecodeRequest extends Omit<DecodeTask, 'kind'> {
  /** Folder for what ffmpeg makes of the file, if it has to. */
  readonly workFolder: string;
  /** FFMPEG_TIMEOUT_MS. */
  readonly ffmpegTimeoutMs: number;
  readonly clock: Clock;
  /** Ends the decoding at once. */
  readonly signal: AbortSignal;
}

/**
 * The audio of the file at `path`: stretches of some seconds. Nothing is decoded before it is asked for. Ends the thread, and
 * removes what it put into `workFolder`, when it is over or returned from.
 * @throws TrunklineError `audio_unreadable` or `audio_too_long`; what a disk says that is full or fails
 */
export async function* decodeFile(request: DecodeRequest): AsyncGenerator<DecodedStretch, void, void> {
  const head = await readHead(request.path);
  if (head.length === 0) throw new TrunklineError('audio_unreadable', 'the file cannot be decoded: it is empty');
  const kind = detectAudio(head);
  if (kind === 'text') throw new TrunklineError('audio_unreadable', 'the file cannot be decoded: it holds text, expected audio');
  if (kind !== 'other') {
    yield* decodeInThread({ ...request, kind });
    return;
  }
  const converted = join(request.workFolder, `trunkline-${randomUUID()}.wav`);
  try {
    await convertWithFfmpeg({ ...request, from: request.path, to: converted, timeoutMs: request.ffmpegTimeoutMs });
    yield* decodeInThread({ ...request, path: converted, kind: 'wav' });
  } finally {
    await rm(converted, { force: true });
  }
}

async function* decodeInThread(task: DecodeTask & Pick<DecodeRequest, 'clock' | 'signal'>): AsyncGenerator<DecodedStretch, void, void> {
  const { path, kind, channels, channelsMax, maxSeconds, clock, signal } = task;
  const worker = new Worker(packagePath('dist', 'src', 'recordings', 'decode-worker.js'), {
    workerData: { path, kind, channels, channelsMax, maxSeconds } satisfies DecodeTask,
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
  });
  worker.stderr.resume();
  try {
    for (;;) {
      const answer = await ask(worker, clock, signal);
      if (answer.kind === 'failed')
        throw answer.code === 'disk_full' ? new DiskError(answer.message) : new TrunklineError(answer.code, answer.message);
      if (answer.kind === 'end') return;
      yield answer;
    }
  } finally {
    await worker.terminate();
  }
}

/** Asks for the next audio. */
function ask(worker: Worker, clock: Clock, signal: AbortSignal): Promise<FromDecodeWorker> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
      worker.off('message', onMessage).off('error', onGone).off('exit', onGone);
      act();
    };
    const onMessage = (message: FromDecodeWorker): void => settle(() => resolve(message));
    const onAbort = (): void => settle(() => reject(signal.reason));
    const onGone = (): void =>
      settle(() => reject(new TrunklineError('audio_unreadable', 'the file cannot be decoded: the decoder gave up on it')));
    const timer = clock.after(SILENCE_MAX_MS, onGone);
    worker.on('message', onMessage).on('error', onGone).on('exit', onGone);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else worker.postMessage('next');
  });
}
