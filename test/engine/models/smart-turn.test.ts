import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { ENGINE_RATE_HZ, TURN_MAX_SAMPLES } from '../../../engine/contract.ts';
import { LogMel } from '../../../engine/models/log-mel.ts';
import type { TurnDetector } from '../../../engine/models/model.ts';
import { loadSmartTurn, toWaveform } from '../../../engine/models/smart-turn.ts';
import { Refusal } from '../../../engine/refusal.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { TEST_MODELS_DIR, whyNotRun } from '../../helpers/installed-models.ts';
import { finish, joined, speech } from '../speech.ts';

/** What the package's own reference makes of a stretch of `fixtures/audio` with 200 ms of silence behind it. */
interface Case {
  readonly audio: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly probability: number;
  /** What the 8 bits of the graph make of changes to the features that are as small as those of rounding. */
  readonly lowest: number;
  readonly highest: number;
  /** Every 997th of 80 × 800. */
  readonly features: readonly number[];
}

const STEP = 997;
const SILENCE = new Int16Array((200 * ENGINE_RATE_HZ) / 1000);

const { turns } = JSON.parse(readFileSync(packagePath('fixtures', 'turns', 'expected.json'), 'utf8')) as {
  turns: Case[];
};

function turnOf({ audio, fromMs, toMs }: Case): Int16Array {
  const [from, to] = [fromMs, toMs].map((ms) => (ms * ENGINE_RATE_HZ) / 1000);
  return joined(speech(audio).subarray(from, to), SILENCE).slice(-TURN_MAX_SAMPLES);
}

describe("smart-turn's features", () => {
  it.each(turns)('are those of its package: $audio from $fromMs to $toMs ms', (turn) => {
    const features = new LogMel(80).compute(toWaveform(turnOf(turn)));
    const differences = turn.features.map((value, index) => Math.abs(value - (features[index * STEP] as number)));
    expect(features.length).toBe(80 * 800);
    expect(Math.max(...differences)).toBeLessThan(4e-5);
  });

  it('are there for silence', () => {
    expect(toWaveform(new Int16Array(16_000)).every((value) => value === 0)).toBe(true);
  });
});

it('says how it is installed where it is not', async () => {
  await expect(loadSmartTurn({ modelsDir: '', threads: 1 })).rejects.toThrow(
    new Refusal('model_missing', 'smart-turn is not installed: run `trunkline models add smart-turn`'),
  );
});

const reason = whyNotRun('smart-turn');

describe.skipIf(reason !== '')(`smart-turn${reason}`, () => {
  let detector: TurnDetector;

  beforeAll(async () => {
    detector = await loadSmartTurn({ modelsDir: TEST_MODELS_DIR, threads: 1 });
  });

  it.each(turns)('decides as its package does: $audio from $fromMs to $toMs ms', async (turn) => {
    const { result, runs } = await finish(detector.decide(turnOf(turn)));
    expect(result).toBeGreaterThan(turn.lowest - 1e-3);
    expect(result).toBeLessThan(turn.highest + 1e-3);
    expect(runs).toBe(2);
  });

  it('keeps nothing from one turn for the next', async () => {
    const [first, second] = turns.map(turnOf) as [Int16Array, Int16Array];
    const { result } = await finish(detector.decide(first));
    await finish(detector.decide(second));
    expect((await finish(detector.decide(first))).result).toBe(result);
  });
});
