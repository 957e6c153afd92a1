/** Over which trunks a call may go, and in which order. */
import type { SipTrunk } from './trunk-list.ts';

/**
 * The trunks that take calls to `to`, best first: by the longest of their prefixes that it begins with, then as they
 * are written. Trunks without prefixes take all numbers, after those that name this one. What is down comes last.
 */
export function trunksFor(
  to: string,
  trunks: readonly SipTrunk[],
  isDown: (trunk: SipTrunk) => boolean,
): readonly SipTrunk[] {
  const fitting = trunks.flatMap((trunk) => {
    const length = matchOf(to, trunk);
    return length === null ? [] : [{ trunk, length, isDown: isDown(trunk) }];
  });
  return fitting
    .toSorted((a, b) => Number(a.isDown) - Number(b.isDown) || b.length - a.length)
    .map(({ trunk }) => trunk);
}

/** How much of `to` the trunk's prefixes name; null = it takes no such calls. */
function matchOf(to: string, { prefixes }: SipTrunk): number | null {
  if (prefixes === null) return 0;
  const matching = prefixes.filter((prefix) => to.startsWith(prefix));
  return matching.length === 0 ? null : Math.max(...matching.map(({ length }) => length));
}
