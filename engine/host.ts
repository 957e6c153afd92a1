/** The engine without its process: takes messages, lets the scheduler run the models and answers. */
import { checkJob, checkSettings, isMessage, type Message, type ModelLimits } from './checks.ts';
import type {
  DetectedMessage,
  EngineJob,
  FromEngine,
  ReadyMessage,
  SpokenMessage,
  TranscribedMessage,
  TurnedMessage,
} from './contract.ts';
import { loadModels, type Models } from './models/load-models.ts';
import type { Sound } from './models/model.ts';
import { MODEL_TABLE, type ModelTable } from './models/model-table.ts';
import { speakWhole } from './models/speak-whole.ts';
import { Refusal } from './refusal.ts';
import { Scheduler, type Steps } from './scheduler.ts';
import type { Time } from './time.ts';
import { warmUp } from './warm-up.ts';

/** A result without what the scheduler knows of it. */
type Result =
  | Omit<TranscribedMessage, 'id' | 'cost'>
  | Omit<DetectedMessage, 'id' | 'cost'>
  | Omit<SpokenMessage, 'id' | 'cost'>
  | Omit<TurnedMessage, 'id' | 'cost'>;

/** The way out. */
export interface Outlet {
  send(message: FromEngine): void;
  /** Called once, when no model runs: the settings were refused, or everything that was to be done is done. */
  leave(reason: 'refused' | 'finished'): void;
}

/** One engine, from its `configure` message to its last answer. Never throws for what it is sent. */
export class EngineHost {
  readonly #time: Time;
  readonly #outlet: Outlet;
  readonly #table: ModelTable;
  readonly #scheduler: Scheduler<Result>;
  #loading: Promise<void> | null = null;
  #models: Models | null = null;
  #leaving: Promise<void> | null = null;
  #isRefused = false;

  constructor(options: { time: Time; outlet: Outlet; table?: ModelTable }) {
    const { time, outlet, table = MODEL_TABLE } = options;
    this.#table = table;
    this.#time = time;
    this.#outlet = outlet;
    this.#scheduler = new Scheduler<Result>({
      time,
      answers: {
        done: (id, result, cost) => outlet.send({ ...result, id, cost }),
        failed: (id, code, message) => outlet.send({ kind: 'failed', id, code, message }),
      },
    });
  }

  /** Takes one message from the gateway. What has no id to answer to and makes no sense is ignored. */
  receive(message: unknown): void {
    if (!isMessage(message)) return;
    const { kind, id } = message;
    if (kind === 'configure') this.#loading ??= this.#load(message['settings']);
    else if (kind === 'drain') this.drain();
    else if (kind === 'ask') this.#outlet.send({ kind: 'alive' });
    else if (kind === 'hold') this.#scheduler.hold(message['isHeld'] === true);
    else if (!Number.isInteger(id)) return;
    else if (kind === 'cancel') this.#scheduler.cancel(id as number);
    else if (kind === 'hurry') this.#scheduler.hurry(id as number, 'speak');
    else this.#take(message, id as number);
  }

  /**
   * Finishes every job taken so far, then leaves. Jobs that come later stay unanswered: the gateway gives them to
   * another engine.
   */
  drain(): void {
    this.#scheduler.hold(false);
    this.#leaving ??= this.#leave();
  }

  /** Nobody waits for answers any more: forgets every job and leaves as soon as no model runs. */
  abandon(): void {
    this.#scheduler.clear();
    this.drain();
  }

  async #leave(): Promise<void> {
    await this.#loading;
    await this.#scheduler.idle();
    if (!this.#isRefused) this.#outlet.leave('finished');
  }

  async #load(settings: unknown): Promise<void> {
    try {
      const startMs = this.#time.nowMs();
      const stage = (name: string) => this.#outlet.send({ kind: 'loading', stage: name });
      const progress = (text: string) => this.#outlet.send({ kind: 'progress', text });
      const models = await loadModels(this.#table, checkSettings(settings, this.#table), progress, stage);
      const loadedMs = this.#time.nowMs();
      await warmUp(models, stage);
      this.#models = models;
      this.#outlet.send({
        ...readyMessage(models),
        loadMs: loadedMs - startMs,
        warmUpMs: this.#time.nowMs() - loadedMs,
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#isRefused = true;
      this.#outlet.send({ kind: 'refused', code: error.code, message: error.message });
      this.#outlet.leave('refused');
    }
  }

  #take(message: Message, id: number): void {
    if (this.#leaving !== null) return;
    const models = this.#models;
    if (models === null) {
      this.#reject(id, 'sent before the engine is ready');
      return;
    }
    const job = checkJob(message, limitsOf(models));
    const tell = (sound: Sound): void => this.#tell(id, sound);
    if (typeof job === 'string') this.#reject(id, job);
    else {
      const { kind, urgency, dueInMs } = job;
      this.#scheduler.submit({ id, kind, urgency, dueInMs, steps: work(models, job, tell) });
    }
  }

  /** Whoever plays the sound needs its next stretch when this one ends. */
  #tell(id: number, { samples, rateHz }: Sound): void {
    this.#outlet.send({ kind: 'sound', id, samples, rateHz });
    this.#scheduler.postpone(id, (samples.length * 1000) / rateHz);
  }

  #reject(id: number, message: string): void {
    this.#outlet.send({ kind: 'failed', id, code: 'bad_input', message });
  }
}

/** A job as steps of the models. */
async function* work({ asr, vad, tts, turn }: Models, job: EngineJob, tell: (sound: Sound) => void): Steps<Result> {
  if (job.kind === 'detect') return { kind: 'detected', tracks: yield* needed(vad).detect(job.tracks) };
  if (job.kind === 'speak') {
    const sound = yield* job.streamed ? needed(tts).speak(job, tell) : speakWhole(needed(tts), job);
    return { kind: 'spoken', ...sound };
  }
  if (job.kind === 'turn') return { kind: 'turned', probability: yield* needed(turn).decide(job.samples) };
  return { kind: 'transcribed', ...(yield* asr.transcribe(job.samples, job.draft, job)) };
}

/** @throws Error when there is none, which the checks of the job have ruled out */
function needed<Model>(model: Model | null): Model {
  if (model === null) throw new Error('there is no such model');
  return model;
}

function limitsOf({ asr, vad, tts, turn, languages }: Models): ModelLimits {
  return {
    languages,
    vocabularySize: asr.vocabularySize,
    vadStateLength: vad?.stateLength ?? null,
    voices: tts?.voices ?? [],
    decidesTurns: turn !== null,
  };
}

function readyMessage(models: Models): Omit<ReadyMessage, 'loadMs' | 'warmUpMs'> {
  const { asr, vad, tts, turn, asrLicence, languages, abilities, costs, warning } = models;
  return {
    kind: 'ready',
    asrModel: asr.name,
    asrLicence,
    vadModel: vad?.name ?? null,
    ttsModel: tts?.name ?? null,
    turnModel: turn?.name ?? null,
    voices: tts?.voices ?? [],
    languages,
    abilities,
    costs,
    provider: asr.provider,
    batchMax: asr.batchMax ?? 1,
    warning,
  };
}
