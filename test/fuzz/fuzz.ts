/**
 * Throws bytes at parsers: seeded mutation of known inputs, and shrinking of what fails. A target is one file in
 * targets/ that exports `target`.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { mutate } from './mutate.ts';
import { Random } from './random.ts';

/** One parser under fire. */
export interface FuzzTarget {
  readonly name: string;
  /** Inputs to start from, best real ones; at least one. */
  readonly seeds: readonly Uint8Array[];
  /** Words of the format, put in here and there. */
  readonly words?: readonly string[];
  /** Feeds the parser. Throws when it misbehaves; the errors that the parser is meant to throw are caught inside. */
  run(input: Uint8Array): void;
}

export interface Failure {
  /** The smallest input found that still fails. */
  readonly input: Uint8Array;
  readonly error: unknown;
}

export interface FuzzResult {
  readonly executions: number;
  readonly failure: Failure | null;
}

/** CPU time. One input that takes more is a failure, too: whoever sends it could stop the process. */
const SLOW_MS = 2000;
const SHRINK_TRIES = 4000;
/** A slow input is as slow in every try. */
const SHRINK_MAX_MS = 10_000;

/** Imports every target, in the order of their file names. */
export async function loadTargets(): Promise<FuzzTarget[]> {
  const folder = join(import.meta.dirname, 'targets');
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  return Promise.all(files.sort().map(async (file) => (await import(join(folder, file))).target as FuzzTarget));
}

/** Runs one input; returns what went wrong, or null. */
export function tryInput(target: FuzzTarget, input: Uint8Array): { error: unknown } | null {
  const before = process.cpuUsage();
  try {
    target.run(input);
  } catch (error) {
    return { error };
  }
  const { user, system } = process.cpuUsage(before);
  const tookMs = (user + system) / 1000;
  return tookMs > SLOW_MS
    ? { error: new Error(`took ${Math.round(tookMs)} ms of CPU time, expected less than ${SLOW_MS}`) }
    : null;
}

/** Leaves out ever smaller pieces of `input` as long as it still fails. */
function shrink(target: FuzzTarget, input: Uint8Array): Failure {
  let smallest = input;
  let { error } = tryInput(target, input) ?? { error: new Error('fails only sometimes') };
  const endMs = performance.now() + SHRINK_MAX_MS;
  let tries = 0;
  for (let piece = Math.ceil(input.length / 2); piece >= 1; piece = Math.floor(piece / 2)) {
    for (let at = 0; at < smallest.length && tries < SHRINK_TRIES && performance.now() < endMs; tries++) {
      const without = Uint8Array.from([...smallest.subarray(0, at), ...smallest.subarray(at + piece)]);
      const failed = tryInput(target, without);
      if (failed === null) at += piece;
      else {
        smallest = without;
        error = failed.error;
      }
    }
  }
  return { input: smallest, error };
}

/**
 * The seeds, then mutations of them while `goOn(executions)`. The same seed gives the same inputs. Stops at the first
 * failure.
 */
export function fuzz(target: FuzzTarget, seed: number, goOn: (executions: number) => boolean): FuzzResult {
  const random = new Random(seed);
  for (let executions = 0; ; executions++) {
    const known = target.seeds[executions];
    if (known === undefined && !goOn(executions)) return { executions, failure: null };
    const input = known ?? mutate(target.seeds, target.words ?? [], random);
    const failed = tryInput(target, input);
    if (failed !== null) return { executions: executions + 1, failure: shrink(target, input) };
  }
}
