/**
 * The same work done with ever more of the engine and the gateway around the models: what each of them adds is the
 * difference. All one job after the other, so that nothing hides behind anything.
 */

import { type EngineSettings, type FromEngine, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { moonshineFiles } from '../../engine/graph/moonshine.ts';
import { EngineHost } from '../../engine/host.ts';
import type { Said } from '../../engine/models/greedy.ts';
import type { Asr, Vad } from '../../engine/models/model.ts';
import { moonshineOn, shippedFiles } from '../../engine/models/moonshine.ts';
import type { Decoding, MoonshineGraphs } from '../../engine/models/moonshine-graphs.ts';
import { openRewrittenGraphs } from '../../engine/models/moonshine-rewritten.ts';
import { loadSilero } from '../../engine/models/silero.ts';
import type { Steps } from '../../engine/scheduler.ts';
import { systemTime } from '../../engine/time.ts';
import type { Engine } from '../../src/engine-client/engine.ts';
import { FIXED_ENGINE_SETTINGS } from '../../src/engine-client/engine-client-factory.ts';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { LiveTranscriber } from '../../src/transcription/live-transcriber.ts';
import { finish } from '../engine/speech.ts';
import { readSettings } from '../helpers/settings.ts';

const NOBODY_WAITS_MS = 600_000;

/** A job as the live transcriber asked for it. */
export interface Job {
  readonly kind: 'detect' | 'transcribe';
  readonly samples: Int16Array;
}

/** What one job took in one stage, in ms. */
export interface BareTime {
  readonly encoderMs: number;
  /** Of the encoder's runs. */
  readonly longestMs: number;
  readonly decoderMs: number;
  /** Model runs, and what the recogniser does between them: floats, tokens, text. */
  readonly recogniserMs: number;
}

/** The models without scheduler or process, with a clock inside the recogniser. */
export class BareModels {
  readonly #asr: Asr;
  readonly #vad: Vad;
  readonly #graphs: TimedGraphs;

  private constructor(graphs: TimedGraphs, vad: Vad) {
    this.#graphs = graphs;
    this.#asr = moonshineOn(graphs, 'cpu');
    this.#vad = vad;
  }

  static async load(): Promise<BareModels> {
    const { MODEL_CACHE_DIR: cacheDir } = readSettings({});
    const files = await moonshineFiles({
      shipped: shippedFiles(),
      cacheDir,
      progress: (text) => process.stderr.write(`${text}\n`),
    });
    const graphs = await openRewrittenGraphs(
      files,
      { device: { provider: 'cpu' }, threads: 1 },
      FIXED_ENGINE_SETTINGS.decodeRunTokens,
    );
    return new BareModels(new TimedGraphs(graphs), await loadSilero({ threads: 1 }));
  }

  async transcribe(samples: Int16Array): Promise<BareTime> {
    this.#graphs.encoderMs = 0;
    this.#graphs.longestMs = 0;
    this.#graphs.decoderMs = 0;
    const recogniserMs = await timed(() => finish(this.#asr.transcribe(samples, [])));
    return {
      encoderMs: this.#graphs.encoderMs,
      longestMs: this.#graphs.longestMs,
      decoderMs: this.#graphs.decoderMs,
      recogniserMs,
    };
  }

  /** One model run for each window. */
  detect(samples: Int16Array): Promise<number> {
    return timed(() => finish(this.#vad.detect([{ samples, state: null }])));
  }
}

class TimedGraphs implements MoonshineGraphs {
  encoderMs = 0;
  longestMs = 0;
  decoderMs = 0;
  readonly #graphs: MoonshineGraphs;

  constructor(graphs: MoonshineGraphs) {
    this.#graphs = graphs;
  }

  async *encode(waveform: Float32Array): Steps<Decoding> {
    const steps = this.#graphs.encode(waveform);
    for (;;) {
      const beginMs = performance.now();
      const step = await steps.next();
      const tookMs = performance.now() - beginMs;
      this.encoderMs += tookMs;
      this.longestMs = Math.max(this.longestMs, tookMs);
      if (step.done) return this.#timed(step.value);
      yield;
    }
  }

  #timed(decoding: Decoding): Decoding {
    return {
      start: (draft) => this.#decode(() => decoding.start(draft)),
      more: () => this.#decode(() => decoding.more()),
      withLogits: () => decoding.withLogits(),
      align: (tokens) => decoding.align(tokens),
    };
  }

  async #decode(run: () => Promise<Said>): Promise<Said> {
    const beginMs = performance.now();
    const tokens = await run();
    this.decoderMs += performance.now() - beginMs;
    return tokens;
  }
}

/** The engine in this process: messages, checks and the scheduler around the models. */
export class LocalEngine {
  readonly #host: EngineHost;
  #receive: (message: FromEngine) => void = () => undefined;
  #nextId = 1;

  private constructor() {
    this.#host = new EngineHost({
      time: systemTime,
      outlet: { send: (message) => this.#receive(message), leave: () => undefined },
    });
  }

  static async start(): Promise<LocalEngine> {
    const engine = new LocalEngine();
    await engine.#send({ kind: 'configure', settings: engineSettings() });
    return engine;
  }

  /** Ms until the answer. */
  run({ kind, samples }: Job): Promise<number> {
    const id = this.#nextId++;
    const terms = { id, urgency: 'batch', dueInMs: NOBODY_WAITS_MS };
    const work = kind === 'detect' ? { tracks: [{ samples, state: null }] } : { samples, draft: [] };
    return timed(() => this.#send({ kind, ...terms, ...work }));
  }

  async #send(message: object): Promise<void> {
    const answer = await new Promise<FromEngine>((resolve) => {
      this.#receive = (received) => {
        if (received.kind !== 'progress' && received.kind !== 'loading') resolve(received);
      };
      this.#host.receive(message);
    });
    if (answer.kind === 'failed' || answer.kind === 'refused') throw new Error(answer.message);
  }
}

function engineSettings(): EngineSettings {
  const { ASR_MODEL, VAD_MODEL, CUDA_DEVICE, MODEL_CACHE_DIR } = readSettings({});
  return {
    role: 'live',
    asrModel: ASR_MODEL,
    vadModel: VAD_MODEL,
    ttsModel: 'tone',
    turnModel: 'off',
    executionProvider: 'cpu',
    cudaDevice: CUDA_DEVICE[0] ?? 0,
    threads: 1,
    modelCacheDir: MODEL_CACHE_DIR,
    modelsDir: '',
    lexiconFile: '',
    ...FIXED_ENGINE_SETTINGS,
  };
}

/** An engine process and the contract in between: ms until the link has the answer. */
export function runOnEngineClient(engineClient: ManagedEngine, { kind, samples }: Job): Promise<number> {
  const terms = { urgency: 'batch', dueInMs: NOBODY_WAITS_MS } as const;
  return timed(() =>
    kind === 'detect'
      ? engineClient.detect({ samples, state: null, ...terms })
      : engineClient.transcribe({ samples, draft: [], ...terms }),
  );
}

/** Time in the live transcriber for one utterance, in ms. */
export interface HeardTime {
  /** From its last sample to the last final. */
  readonly listeningMs: number;
  /** From the decision that speech is over to the final, for each final. */
  readonly finalMs: readonly number[];
}

/**
 * One utterance through a live transcriber of its own, pushed at once, no partials and nothing decoded ahead; tells the
 * jobs that it asked for.
 */
export async function transcribeLive(
  engineClient: ManagedEngine,
  samples: Int16Array,
  onJob: (job: Job) => void,
): Promise<HeardTime> {
  const finalMs: number[] = [];
  const transcriber = new LiveTranscriber({
    settings: { ...readSettings({}), EAGER_MS: Number.MAX_SAFE_INTEGER },
    engine: watched(engineClient, onJob),
    clock: systemClock,
    originMs: 0,
    partials: false,
    emit: () => undefined,
    metrics: {
      partial: () => undefined,
      partialDropped: () => undefined,
      finalLost: () => undefined,
      joint: () => undefined,
      final: (_, lagMs) => finalMs.push(lagMs),
    },
  });
  const listeningMs = await timed(async () => {
    transcriber.push(samples);
    await transcriber.end();
  });
  return { listeningMs, finalMs };
}

function watched(engineClient: ManagedEngine, onJob: (job: Job) => void): Engine {
  return {
    load: 0,
    finalLoad: 0,
    firmLoad: 0,
    voices: [],
    languages: [],
    abilities: null,
    ttsModel: null,
    turnModel: null,
    start: () => engineClient.start(),
    wake: () => engineClient.wake(),
    speak: () => Promise.reject(new Error('nothing is spoken')),
    turn: () => Promise.reject(new Error('no turn is decided')),
    detect(request) {
      onJob({ kind: 'detect', samples: request.samples });
      return engineClient.detect(request);
    },
    transcribe(request) {
      onJob({ kind: 'transcribe', samples: request.samples });
      return engineClient.transcribe(request);
    },
  };
}

/** Windows of a detection job. */
export function windowsOf({ samples }: Job): number {
  return samples.length / VAD_WINDOW_SAMPLES;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beginMs = performance.now();
  await work();
  return performance.now() - beginMs;
}
