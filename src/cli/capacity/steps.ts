/** Which numbers of calls are tried to find out how many a machine holds. */

/** Calls for each core. One core of a quick processor was seen to hold twenty to thirty. */
const CALLS_PER_CORE = [2, 5, 10, 15, 20, 25, 30, 40, 60];
/** What was found is close enough when the next number that was too many is at most this much more, as a share. */
const CLOSE_SHARE = 0.15;

/** What became of one number of calls. */
interface Tried {
  readonly calls: number;
  readonly held: boolean;
}

/**
 * The next number of calls to try, or null when enough is known: more and more until it is too many, then once between
 * that and the last that was held. What was not held is tried twice: the few finals of ten seconds may have met with
 * something else that the machine did.
 * @param tried what was tried so far, in order
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

/** The most calls that were held; 0 = none were. */
export function heldCalls(tried: readonly Tried[]): number {
  return Math.max(0, ...tried.filter(({ held }) => held).map(({ calls }) => calls));
}

function attempts(tried: readonly Tried[], calls: number): number {
  return tried.filter((each) => each.calls === calls).length;
}

function plannedCalls(cores: number): number[] {
  return CALLS_PER_CORE.map((calls) => Math.max(1, Math.round(calls * cores)));
}
