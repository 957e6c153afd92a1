/**
 * Throws bytes at parsers: seeded mutation of known inputs, and shrinking of what fails. A target is one file in
 * targets/ that exports `target`.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findGrowth } from './growth.ts';
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

/** CPU time. An input that takes more is looked at: whoever sends such ones may be able to stop the process. */
const SUSPECT_MS = 100;
/** The next suspect of a target is so much slower: many are alike, and to look at one takes seconds. */
const NEXT_SUSPECT = 1.5;
/** A suspect fails that takes longer than so many readings of a megabyte of JSON on the same machine. */
const REFERENCES_MAX = 100;
const REFERENCE = JSON.stringify(Array(100_000).fill('a string'));
/** CPU time from which on two can be compared, and which is enough to tell. */
const COST_MIN_MS = 10;
const COST_MAX_MS = 2000;
const SHRINK_TRIES = 4000;
/** A slow input is as slow in every try. */
const SHRINK_MAX_MS = 10_000;

/** Imports every target, in the order of their file names. */
export async function loadTargets(): Promise<FuzzTarget[]> {
  const folder = join(import.meta.dirname, 'targets');
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  return Promise.all(files.sort().map(async (file) => (await import(join(folder, file))).target as FuzzTarget));
}

/** Runs one input, which is a suspect from `suspect.ms` on; returns what went wrong, or null. */
export function tryInput(
  target: FuzzTarget,
  input: Uint8Array,
  suspect = { ms: SUSPECT_MS },
): { error: unknown } | null {
  let tookMs: number;
  try {
    tookMs = cpuMs(() => target.run(input));
  } catch (error) {
    return { error };
  }
  if (tookMs < suspect.ms) return null;
  suspect.ms = tookMs * NEXT_SUSPECT;
  const slowness = slownessOf(target, input);
  return slowness === null ? null : { error: new Error(slowness) };
}

/** Why `input` is too slow on any machine; null = it is not. Inputs made of it that fail otherwise cost nothing. */
function slownessOf(target: FuzzTarget, input: Uint8Array): string | null {
  const costOf = (some: Uint8Array) => Math.min(...[1, 2].map(() => cpuMs(() => runAnyway(target, some))));
  const references = costOf(input) / Math.min(...[1, 2, 3].map(() => cpuMs(() => JSON.parse(REFERENCE))));
  if (references > REFERENCES_MAX)
    return `takes the time of ${Math.round(references)} MB of JSON, expected at most ${REFERENCES_MAX}`;
  return findGrowth(input, { of: costOf, min: COST_MIN_MS, max: COST_MAX_MS });
}

function runAnyway(target: FuzzTarget, input: Uint8Array): void {
  try {
    target.run(input);
  } catch {
    // It is found as a failure of its own.
  }
}

function cpuMs(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
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
  const suspect = { ms: SUSPECT_MS };
  for (let executions = 0; ; executions++) {
    const known = target.seeds[executions];
    if (known === undefined && !goOn(executions)) return { executions, failure: null };
    const input = known ?? mutate(target.seeds, target.words ?? [], random);
    const failed = tryInput(target, input, suspect);
    if (failed !== null) return { executions: executions + 1, failure: shrink(target, input) };
  }
}
