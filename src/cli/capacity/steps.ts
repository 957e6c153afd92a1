/** Chooses the numbers of calls to try when measuring capacity. */

/** Calls for each core. One core of a fast processor holds twenty to thirty. */
const CALLS_PER_CORE = [2, 5, 10, 15, 20, 25, 30, 40, 60];
/** The search ends when the number that was too many exceeds the number held by at most this share. */
const CLOSE_SHARE = 0.15;

/** The result for one number of calls. */
interface Tried {
  readonly calls: number;
  readonly held: boolean;
}

/**
 * The next number of calls to try; null = the search is over. The numbers grow until one is too many, then one between
 * that and the last held number is tried. A number that was not held is tried twice: in ten seconds, other work of the
 * machine may have delayed the few finals.
 * @param tried the results so far, in order
 */
export function nextCalls(tried: readonly Tried[], cores: number): number | null {
  const held = heldCalls(tried);
  const last = tried.at(-1);
  if (last !== undefined && !last.held && attempts(tried, last.calls) === 1) return last.calls;
  const failures = [...new Set(tried.map(({ calls }) => calls))].filter((calls) => calls > held);
  const tooMany = failures[0];
  if (tooMany === undefined) return plannedCalls(cores).find((calls) => calls > held) ?? null;
  const isRefined = failures.length > 1 || last?.calls !== tooMany;
  if (isRefined || tooMany - held <= Math.max(1, held * CLOSE_SHARE)) return null;
  return Math.floor((held + tooMany) / 2);
}

/** The largest number of calls that was held; 0 = none. */
export function heldCalls(tried: readonly Tried[]): number {
  return Math.max(0, ...tried.filter(({ held }) => held).map(({ calls }) => calls));
}

function attempts(tried: readonly Tried[], calls: number): number {
  return tried.filter((each) => each.calls === calls).length;
}

function plannedCalls(cores: number): number[] {
  return CALLS_PER_CORE.map((calls) => Math.max(1, Math.round(calls * cores)));
}
