/**
 * Smart Turn v3.2 of Daily (BSD-2): whether a speaker has finished, from the last 8 s of what was said. An encoder as
 * Whisper tiny's and a small head, quantised to 8 bits. See LocalSmartTurnAnalyzerV3 of pipecat, in whose package it is
 * published.
 */
import { join } from 'node:path';
import { type EngineSettings, TURN_MAX_SAMPLES } from '../contract.ts';
import { floatsOf, openSession } from '../onnx.ts';
import { type InferenceSession, Tensor } from '../onnxruntime.ts';
import { Refusal } from '../refusal.ts';
import type { Steps } from '../scheduler.ts';
import { findInstalled } from './installed.ts';
import { LogMel, MEL_HOP_SAMPLES } from './log-mel.ts';
import type { TurnDetector } from './model.ts';
import { writeFloats } from './pcm.ts';

const BANDS = 80;
const FRAMES = TURN_MAX_SAMPLES / MEL_HOP_SAMPLES;
/** Keeps silence from being divided by nothing. */
const VARIANCE_MIN = 1e-7;

/**
 * Opens the first installed model of this family, always on the CPU: a GPU would wait for other work.
 * @param options.threads intra-op threads of one run.
 * @throws Refusal when none is installed.
 */
export async function loadSmartTurn({ modelsDir, threads }: LoadOptions): Promise<TurnDetector> {
  const [model] = findInstalled(modelsDir, 'smart-turn');
  if (model === undefined)
    throw new Refusal('model_missing', 'smart-turn is not installed: run `trunkline models add smart-turn`');
  const { name, folder, bridge } = model;
  const file = Object.keys(bridge.files).find((path) => path.endsWith('.onnx'));
  if (file === undefined) throw new Refusal('model_missing', `${name} has no .onnx file: add it again`);
  const session = await openSession(join(folder, file), { threads, device: { provider: 'cpu' } });
  return new SmartTurn(`${name}-${bridge.version}`, session);
}

type LoadOptions = Pick<EngineSettings, 'modelsDir' | 'threads'>;

class SmartTurn implements TurnDetector {
  readonly name: string;
  readonly #session: InferenceSession;
  readonly #logMel = new LogMel(BANDS);

  constructor(name: string, session: InferenceSession) {
    this.name = name;
    this.#session = session;
  }

  async *decide(samples: Int16Array): Steps<number> {
    const features = this.#logMel.compute(toWaveform(samples));
    yield;
    const outputs = await this.#session.run({ input_features: new Tensor('float32', features, [1, BANDS, FRAMES]) });
    // The graph ends in a sigmoid, whatever its output is called.
    return floatsOf(outputs, 'logits')[0] ?? 0;
  }
}

/** 8 s that end with `samples`, zeros in front of them, all of it brought to a mean of 0 and a variance of 1. */
export function toWaveform(samples: Int16Array): Float32Array {
  const waveform = new Float32Array(TURN_MAX_SAMPLES);
  writeFloats(samples, waveform, TURN_MAX_SAMPLES - samples.length);
  const { mean, variance } = momentsOf(waveform);
  const factor = 1 / Math.sqrt(variance + VARIANCE_MIN);
  for (let i = 0; i < waveform.length; i++) waveform[i] = ((waveform[i] as number) - mean) * factor;
  return waveform;
}

function momentsOf(values: Float32Array): { mean: number; variance: number } {
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    sum += value;
    squares += value * value;
  }
  const mean = sum / values.length;
  return { mean, variance: Math.max(squares / values.length - mean * mean, 0) };
}
