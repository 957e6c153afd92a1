/**
 * How the places for live audio are shared (dynamic thresholds: A. Choudhury, E. Hahne, "Dynamic queue length
 * thresholds for shared-memory packet switches", 1998). Everybody may have one place. More of them somebody has only
 * while enough others stay free, so that who is alone gets most and the next ones always find some.
 */

/** Who has a session. */
export interface ListenerOwner {
  /** The key or user. */
  readonly tenant: string;
  /** Whether nobody else can come in, so that there is nobody to share with. */
  readonly isAlone: boolean;
  /** Its short-lived key, by something that names it and is no secret; null = it has none. */
  readonly shortKey: string | null;
}

/** A key or user has at most so many times as many places as stay free: alone three quarters of all. */
const KEY_FREE_TIMES = 3;
/** A short-lived key, as browsers have: alone half of all. */
const SHORT_KEY_FREE_TIMES = 1;

/** Among whom there is too little. */
export interface Share {
  readonly message: string;
  isOf(owner: ListenerOwner): boolean;
}

/** Null = `owner` may take one of `max` places beside those that are `taken`. */
export function mayTakePlace(
  owner: ListenerOwner,
  taken: Iterable<{ readonly owner: ListenerOwner }>,
  max: number,
): Share | null {
  const owners = [...taken].map((place) => place.owner);
  const free = max - owners.length;
  const { tenant, shortKey, isAlone } = owner;
  const isShortKey = (each: ListenerOwner): boolean => each.tenant === tenant && each.shortKey === shortKey;
  const ofShortKey = owners.filter(isShortKey).length;
  if (shortKey !== null && isBeyond(ofShortKey, free, SHORT_KEY_FREE_TIMES))
    return { isOf: isShortKey, message: toText('short-lived key', ofShortKey, free) };
  const isTenant = (each: ListenerOwner): boolean => each.tenant === tenant;
  const ofTenant = owners.filter(isTenant).length;
  if (!isAlone && isBeyond(ofTenant, free, KEY_FREE_TIMES))
    return { isOf: isTenant, message: toText('key', ofTenant, free) };
  if (free > 0) return null;
  const message = `${owners.length} listening sessions are open and at most ${max} are allowed (LISTENERS_MAX)`;
  return { isOf: () => true, message };
}

/** Whether one more is too many for who has `held`, though not for all together. */
function isBeyond(held: number, free: number, freeTimes: number): boolean {
  return held > 0 && held + 1 > freeTimes * (free - 1);
}

function toText(kind: string, held: number, free: number): string {
  const kept = `the ${free} places of LISTENERS_MAX that are free are kept for others`;
  return `this ${kind} has ${held} listening sessions; ${kept}`;
}
