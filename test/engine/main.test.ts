/** The built engine as a process of its own. `npm test` builds before it tests. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { EngineSettings, FromEngine, ToEngine } from '../../engine/contract.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { TONE } from './settings.ts';
import { joined, speech, tone } from './speech.ts';

const REAL: EngineSettings = { ...TONE, asrModel: 'moonshine-tiny', vadModel: 'silero', ttsModel: 'flite' };

let engine: EngineProcess;

/** An engine process with its messages in the order in which they came. */
class EngineProcess {
  readonly #child: ChildProcess;
  readonly #messages: FromEngine[] = [];
  readonly exit: Promise<{ code: number | null; signal: string | null }>;
  #wake: () => void = () => undefined;

  constructor() {
    this.#child = fork(packagePath('dist', 'engine', 'main.js'), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    this.#child.on('message', (message) => {
      // Only the first engine on a machine has graphs to rewrite.
      if (['progress', 'loading'].includes((message as FromEngine).kind)) return;
      this.#messages.push(message as FromEngine);
      this.#wake();
    });
    this.exit = once(this.#child, 'exit').then(([code, signal]) => ({ code, signal }));
  }

  send(message: ToEngine): void {
    this.#child.send(message);
  }

  transcribe(id: number, samples: Int16Array, urgency: 'final' | 'batch' = 'final'): void {
    this.send({ kind: 'transcribe', id, urgency, dueInMs: 1000, samples, draft: [] });
  }

  /** The next message that has not been taken yet. */
  async next(): Promise<FromEngine> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  disconnect(): void {
    this.#child.disconnect();
  }
}

async function start(settings: EngineSettings): Promise<FromEngine> {
  engine = new EngineProcess();
  engine.send({ kind: 'configure', settings });
  return await engine.next();
}

afterEach(() => engine.kill('SIGKILL'));

describe('an engine process with pretend models', () => {
  it('is ready, transcribes, detects and ends with 0 when it is drained', async () => {
    expect(await start(TONE)).toMatchObject({ kind: 'ready', asrModel: 'tone' });
    engine.transcribe(1, joined(tone(400, 200), tone(800, 400)));
    expect(await engine.next()).toMatchObject({
      kind: 'transcribed',
      id: 1,
      text: 'alpha charlie charlie',
      tokens: [0, 2, 2],
    });
    engine.send({
      kind: 'detect',
      id: 2,
      urgency: 'detect',
      dueInMs: 32,
      tracks: [{ samples: tone(500, 64), state: null }],
    });
    const detected = await engine.next();
    expect(detected).toMatchObject({ kind: 'detected', id: 2 });
    expect(detected.kind === 'detected' && detected.tracks[0]?.probabilities).toBeInstanceOf(Float32Array);
    engine.transcribe(3, tone(600, 3000));
    engine.send({ kind: 'drain' });
    expect(await engine.next()).toMatchObject({ kind: 'transcribed', id: 3 });
    expect(await engine.exit).toEqual({ code: 0, signal: null });
  });

  it('stops a job that is cancelled', async () => {
    await start(TONE);
    engine.transcribe(1, tone(400, 30_000), 'batch');
    engine.send({ kind: 'cancel', id: 1 });
    expect(await engine.next()).toMatchObject({ kind: 'failed', id: 1, code: 'cancelled' });
  });

  it('does a final before a batch job that came first', async () => {
    await start(TONE);
    engine.transcribe(1, tone(400, 30_000), 'batch');
    engine.transcribe(2, tone(400, 400));
    expect(await engine.next()).toMatchObject({ id: 2 });
    expect(await engine.next()).toMatchObject({ id: 1 });
  });

  it('ends with 0 when the gateway is gone', async () => {
    await start(TONE);
    engine.transcribe(1, tone(400, 30_000), 'batch');
    engine.disconnect();
    expect(await engine.exit).toEqual({ code: 0, signal: null });
  });

  it('does not mind the Ctrl-C that its gateway gets, too', async () => {
    await start(TONE);
    engine.kill('SIGINT');
    engine.transcribe(1, tone(400, 200));
    expect(await engine.next()).toMatchObject({ kind: 'transcribed', id: 1 });
  });
});

describe('an engine process with wrong settings', () => {
  it('says which one and ends with 42', async () => {
    expect(await start({ ...TONE, threads: 0 })).toMatchObject({ kind: 'refused', code: 'bad_settings' });
    expect(await engine.exit).toEqual({ code: 42, signal: null });
  });
});

const CUDA_LIBRARY = packagePath(
  'node_modules',
  'onnxruntime-node',
  'bin',
  'napi-v6',
  'linux',
  'x64',
  'libonnxruntime_providers_cuda.so',
);

describe.skipIf(existsSync(CUDA_LIBRARY))(
  'an engine process that is to use CUDA where its libraries are missing',
  () => {
    it('says what is missing and how to get it, and ends with 42', async () => {
      const refused = await start({ ...REAL, executionProvider: 'cuda' });
      expect(refused).toMatchObject({
        kind: 'refused',
        code: 'cuda_missing',
        message: expect.stringContaining('CUDA'),
      });
      expect(await engine.exit).toEqual({ code: 42, signal: null });
    });

    it('falls back to the CPU with a warning when it may', async () => {
      const ready = await start({ ...REAL, executionProvider: 'auto' });
      expect(ready).toMatchObject({
        kind: 'ready',
        provider: 'cpu',
        warning: expect.stringContaining('running on the CPU: CUDA'),
      });
    });
  },
);

describe('an engine process with real models', () => {
  it.each(['SIGTERM', 'drain'] as const)(
    'finishes the model run that is under way on %s and ends with 0',
    async (how) => {
      expect(await start(REAL)).toMatchObject({ kind: 'ready', asrModel: 'moonshine-tiny', vadModel: 'silero-v6' });
      engine.transcribe(1, speech('long-speech').subarray(0, 160_000));
      engine.send({
        kind: 'detect',
        id: 2,
        urgency: 'detect',
        dueInMs: 32,
        tracks: [{ samples: tone(0, 32), state: null }],
      });
      expect(await engine.next()).toMatchObject({ kind: 'detected', id: 2 });
      if (how === 'drain') engine.send({ kind: 'drain' });
      else engine.kill(how);
      expect(await engine.next()).toMatchObject({ kind: 'transcribed', id: 1 });
      expect(await engine.exit).toEqual({ code: 0, signal: null });
    },
  );

  it('finishes no more than the present run when the gateway is gone, and ends with 0', async () => {
    await start(REAL);
    engine.transcribe(1, speech('long-speech').subarray(0, 160_000));
    engine.send({
      kind: 'detect',
      id: 2,
      urgency: 'detect',
      dueInMs: 32,
      tracks: [{ samples: tone(0, 32), state: null }],
    });
    await engine.next();
    engine.disconnect();
    expect(await engine.exit).toEqual({ code: 0, signal: null });
  });
});
