/** What our own pipeline makes of the pauses in a case: voice detection, the question to the turn model, the words. */
import { ENGINE_RATE_HZ, TURN_MAX_SAMPLES, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { type Engine, EngineError, type TurnDecision } from '../../src/engine-client/engine.ts';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { msToSamples } from '../../src/foundation/units.ts';
import { LiveTranscriber } from '../../src/transcription/live-transcriber.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import type { TurnCase, TurnKind } from './turn-cases.ts';
import { throughPhone } from './whole-recordings.ts';

/** Silence at which the model is asked on calls, and the others that are compared with it, in ms. */
export const ASKED_AT_MS = 192;
export const SILENCES_MS = [100, ASKED_AT_MS, 300, 500] as const;

/** Voice detection ends speech at its last loud window; the end of a case is known no better. */
const END_WITHIN_MS = 400;
const ATTEMPTS = 5;
/** A sample above this is speech again: 36 dB below full scale. */
const LOUD = 500;

/** One pause in which the turn model was asked. */
export interface Pause {
  /** `inner pause`: a pause of the speaker before the end of a whole prompt. */
  readonly kind: TurnKind | 'inner pause';
  /** What the model says at each of {@link SILENCES_MS}; NaN where the pause was over by then. */
  readonly probabilities: readonly number[];
  /** What was understood of the utterance before the pause. */
  readonly text: string;
}

/**
 * Plays `turn` to a transcriber, as fast as the engine examines it, and gives its pauses.
 * @param allSilences whether the model is also asked after the silences that calls do not ask it after
 */
export async function findPauses(engine: ManagedEngine, turn: TurnCase, allSilences: boolean): Promise<Pause[]> {
  const stream = throughPhone(turn.samples);
  const speechTo = (turn.speechTo * ENGINE_RATE_HZ) / LINE_RATE_HZ;
  const watched = new WatchedEngine(engine);
  const transcriber = new LiveTranscriber({
    settings: readSettings({}),
    engine: watched.engine,
    clock: systemClock,
    originMs: 0,
    partials: false,
    emit: () => undefined,
    metrics: SILENT_METRICS,
    turns: LISTENER,
  });
  const asked: { to: number; text: string; probability: number }[] = [];
  for (let from = 0; from + VAD_WINDOW_SAMPLES <= stream.length; from += VAD_WINDOW_SAMPLES) {
    transcriber.push(stream.subarray(from, from + VAD_WINDOW_SAMPLES));
    const questions = watched.questions;
    await watched.answered();
    if (watched.questions > questions)
      asked.push({ to: from + VAD_WINDOW_SAMPLES, text: watched.text, probability: watched.probability });
  }
  await transcriber.end();
  const pauses: Pause[] = [];
  for (const { to, text, probability } of asked) {
    const kind = kindOf(turn, to - speechTo);
    if (kind === null) continue;
    const others = allSilences ? await askAtEach(engine, stream, to) : [];
    pauses.push({
      kind,
      text,
      probabilities: SILENCES_MS.map((ms, at) => (ms === ASKED_AT_MS ? probability : (others[at] ?? Number.NaN))),
    });
  }
  return pauses;
}

/** Null for pauses that the whole prompt has as well. */
function kindOf({ kind }: TurnCase, behindEnd: number): Pause['kind'] | null {
  if (behindEnd > -msToSamples(END_WITHIN_MS - ASKED_AT_MS, ENGINE_RATE_HZ)) return kind;
  return kind === 'complete' ? 'inner pause' : null;
}

/** The turn begins with the case, so the model gets the last 8 s of it up to each length of silence. */
async function askAtEach(engine: ManagedEngine, stream: Int16Array, askedTo: number): Promise<number[]> {
  const probabilities: number[] = [];
  for (const silenceMs of SILENCES_MS) {
    if (silenceMs === ASKED_AT_MS) {
      probabilities.push(Number.NaN);
      continue;
    }
    const to = askedTo + msToSamples(silenceMs - ASKED_AT_MS, ENGINE_RATE_HZ);
    const samples = stream.slice(Math.max(to - TURN_MAX_SAMPLES, 0), to);
    const goesOn = stream.subarray(askedTo, to).some((sample) => Math.abs(sample) > LOUD);
    probabilities.push(goesOn ? Number.NaN : (await decide(engine, samples)).probability);
  }
  return probabilities;
}

/** On a machine that is busy otherwise an engine may seem to hang: it is asked again. */
async function decide(engine: ManagedEngine, samples: Int16Array): Promise<TurnDecision> {
  for (let left = ATTEMPTS - 1; ; left--) {
    try {
      return await engine.turn({ samples, dueInMs: 600_000 });
    } catch (error) {
      if (left === 0 || !(error instanceof EngineError) || error.code !== 'stale') throw error;
    }
  }
}

/** Lets a transcriber use an engine, and tells when nothing of it is under way. */
class WatchedEngine {
  readonly engine: Engine;
  questions = 0;
  /** The latest reading of an utterance. */
  text = '';
  /** What the model answered last. */
  probability = Number.NaN;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(engine: ManagedEngine) {
    this.engine = {
      load: 0,
      finalLoad: 0,
      firmLoad: 0,
      voices: [],
      languages: engine.languages,
      abilities: engine.abilities,
      ttsModel: null,
      turnModel: engine.turnModel,
      start: () => engine.start(),
      wake: () => undefined,
      speak: () => Promise.reject(new Error('nothing is spoken')),
      detect: (request) => this.#watch(engine.detect(request)),
      turn: ({ samples }) => {
        this.questions++;
        return this.#watch(decide(engine, samples).then((decision) => this.#noteDecision(decision)));
      },
      transcribe: (request) => this.#watch(engine.transcribe(request).then((read) => this.#note(read))),
    };
  }

  /** Resolves when all that was asked is answered, and what follows from it. */
  async answered(): Promise<void> {
    while (this.#underWay.size > 0) {
      await Promise.allSettled(this.#underWay);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #note<T extends { readonly text: string }>(read: T): T {
    this.text = read.text;
    return read;
  }

  #noteDecision(decision: TurnDecision): TurnDecision {
    this.probability = decision.probability;
    return decision;
  }

  #watch<T>(answer: Promise<T>): Promise<T> {
    this.#underWay.add(answer);
    const forget = () => this.#underWay.delete(answer);
    answer.then(forget, forget);
    return answer;
  }
}

const LISTENER = {
  isWanted: () => true,
  expected: () => null,
  onEnded: () => undefined,
  onContinued: () => undefined,
  onAnswer: () => undefined,
};

const SILENT_METRICS = {
  partial: () => undefined,
  final: () => undefined,
  partialDropped: () => undefined,
  finalLost: () => undefined,
  joint: () => undefined,
};
