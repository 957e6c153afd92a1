/** Word alignment by the least number of edits (Levenshtein), and the error rates that follow from it. */

export interface Edits {
  readonly substitutions: number;
  readonly deletions: number;
  readonly insertions: number;
  /** Words of the reference. */
  readonly words: number;
}

/** Which words of `hypothesis` stand where `reference` has the same. */
export function rightWords(reference: readonly string[], hypothesis: readonly string[]): boolean[] {
  const right = hypothesis.map(() => false);
  for (const { edit, at } of editsOf(reference, hypothesis)) if (edit === null) right[at] = true;
  return right;
}

/** What must be substituted, deleted from and inserted into `reference` to get `hypothesis`. */
export function countEdits(reference: readonly string[], hypothesis: readonly string[]): Edits {
  const counts = { substitutions: 0, deletions: 0, insertions: 0 };
  for (const { edit } of editsOf(reference, hypothesis)) if (edit !== null) counts[edit]++;
  return { ...counts, words: reference.length };
}

interface Step {
  /** Null = the words are the same. */
  readonly edit: 'substitutions' | 'deletions' | 'insertions' | null;
  /** The place in the hypothesis. */
  readonly at: number;
}

/** From the last to the first. */
function editsOf(reference: readonly string[], hypothesis: readonly string[]): Step[] {
  const costs = editCosts(reference, hypothesis);
  const steps: Step[] = [];
  let i = reference.length;
  let j = hypothesis.length;
  while (i > 0 || j > 0) {
    const here = costs[i]?.[j] ?? 0;
    const same = i > 0 && j > 0 && reference[i - 1] === hypothesis[j - 1];
    if (i > 0 && j > 0 && here === (costs[i - 1]?.[j - 1] ?? 0) + (same ? 0 : 1)) {
      i--;
      j--;
      steps.push({ edit: same ? null : 'substitutions', at: j });
    } else if (i > 0 && here === (costs[i - 1]?.[j] ?? 0) + 1) {
      i--;
      steps.push({ edit: 'deletions', at: j });
    } else {
      j--;
      steps.push({ edit: 'insertions', at: j });
    }
  }
  return steps;
}

/** The edits of many pairs together. */
export function sumEdits(all: readonly Edits[]): Edits {
  const sum = (of: (edits: Edits) => number) => all.reduce((total, edits) => total + of(edits), 0);
  return {
    substitutions: sum((edits) => edits.substitutions),
    deletions: sum((edits) => edits.deletions),
    insertions: sum((edits) => edits.insertions),
    words: sum((edits) => edits.words),
  };
}

/** Word error rate in percent of the reference's words. */
export function wordErrorRate(edits: Edits): number {
  if (edits.words === 0) return 0;
  return (100 * (edits.substitutions + edits.deletions + edits.insertions)) / edits.words;
}

function editCosts(reference: readonly string[], hypothesis: readonly string[]): Int32Array[] {
  const rows = Array.from({ length: reference.length + 1 }, () => new Int32Array(hypothesis.length + 1));
  for (let i = 0; i <= reference.length; i++) {
    const row = rows[i] as Int32Array;
    for (let j = 0; j <= hypothesis.length; j++) row[j] = cheapest(rows, reference, hypothesis, i, j);
  }
  return rows;
}

function cheapest(
  rows: readonly Int32Array[],
  reference: readonly string[],
  hypothesis: readonly string[],
  i: number,
  j: number,
): number {
  if (i === 0) return j;
  if (j === 0) return i;
  const substituted = (rows[i - 1]?.[j - 1] ?? 0) + (reference[i - 1] === hypothesis[j - 1] ? 0 : 1);
  return Math.min(substituted, (rows[i - 1]?.[j] ?? 0) + 1, (rows[i]?.[j - 1] ?? 0) + 1);
}
