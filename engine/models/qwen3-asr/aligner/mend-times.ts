/**
 * Times that a forced aligner told out of order. Qwen3's authors trust the longest run of times that never falls and
 * put the others between them: https://github.com/QwenLM/Qwen3-ASR (inference/qwen3_forced_aligner.py, fix_timestamp).
 */

/** So many wrong times beside one another take the time of a neighbour; more are spread evenly. */
const SNAPPED_MAX = 2;

/** @param times whole numbers, none below 0. @returns as many, never falling */
export function mendTimes(times: readonly number[]): number[] {
  const trusted = longestRise(times);
  return times.map((time, at) => (trusted.has(at) ? time : between(times, trusted, at)));
}

/** Where the longest selection of times lies that never falls. */
function longestRise(times: readonly number[]): ReadonlySet<number> {
  const lengths: number[] = [];
  const before: number[] = [];
  for (const [at, time] of times.entries()) {
    let [length, from] = [1, -1];
    for (let earlier = 0; earlier < at; earlier++) {
      const longer = (lengths[earlier] as number) + 1;
      if ((times[earlier] as number) <= time && longer > length) [length, from] = [longer, earlier];
    }
    lengths.push(length);
    before.push(from);
  }
  const rise = new Set<number>();
  const end = lengths.indexOf(lengths.reduce((most, length) => Math.max(most, length), 0));
  for (let at = end; at !== -1; at = before[at] as number) rise.add(at);
  return rise;
}

/** A time for `at`, which is not trusted, by the trusted ones around it. */
function between(times: readonly number[], trusted: ReadonlySet<number>, at: number): number {
  const left = nextTrusted(times, trusted, at, -1);
  const right = nextTrusted(times, trusted, at, 1);
  if (left === -1) return times[right] as number;
  if (right === times.length) return times[left] as number;
  const [leftTime, rightTime] = [times[left] as number, times[right] as number];
  const steps = right - left;
  if (steps - 1 <= SNAPPED_MAX) return at - left <= right - at ? leftTime : rightTime;
  return Math.trunc(leftTime + ((rightTime - leftTime) / steps) * (at - left));
}

function nextTrusted(times: readonly number[], trusted: ReadonlySet<number>, at: number, step: 1 | -1): number {
  let index = at + step;
  while (index >= 0 && index < times.length && !trusted.has(index)) index += step;
  return index;
}
