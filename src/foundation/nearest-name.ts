/** Finds what somebody meant who mistyped a name. */

/** Longer names are not compared: the time grows with the product of both lengths. */
const NAME_MAX_CHARS = 64;
/** So many of the characters may be wrong, and at least one. */
const WRONG_SHARE = 1 / 3;

/** The name among `names` that is most like `typed`, also in another case; null = none is like it. */
export function nearestName(typed: string, names: Iterable<string>): string | null {
  if (typed.length > NAME_MAX_CHARS) return null;
  const wanted = typed.toLowerCase();
  let nearest: string | null = null;
  let least = Math.max(1, Math.floor(typed.length * WRONG_SHARE)) + 1;
  for (const name of names) {
    if (name.length > NAME_MAX_CHARS) continue;
    const edits = editsBetween(wanted, name.toLowerCase());
    if (edits < least && edits < name.length) [nearest, least] = [name, edits];
  }
  return nearest;
}

/** `, did you mean …?`, or nothing where no name is like `typed`. */
export function didYouMean(typed: string, names: Iterable<string>): string {
  const nearest = nearestName(typed, names);
  return nearest === null ? '' : `, did you mean ${nearest}?`;
}

/** The distance of Damerau and Levenshtein: characters put in, left out, replaced, or two that changed places. */
function editsBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwap) edits = Math.min(edits, (beforeLast[j - 2] ?? 0) + 1);
      row.push(edits);
    }
    [beforeLast, last] = [last, row];
  }
  return last[other.length] ?? one.length;
}
