/** What is missing in a call beside the same call on a calm machine, and of what nobody was told. */

/** A final caption or a gap, in ms of the call. */
export interface ToldStretch {
  readonly startMs: number;
  readonly endMs: number;
}

/** A final caption of the call on a calm machine. */
export interface ReferenceFinal extends ToldStretch {
  readonly words: number;
}

/** Where an utterance begins and ends is known to so much; cut in two, its halves leave out as much. */
const TOLERANCE_MS = 400;

/** How much of a stretch none of `told` covers, in ms. */
function uncoveredMs({ startMs, endMs }: ToldStretch, told: readonly ToldStretch[]): number {
  let atMs = startMs;
  let missingMs = 0;
  for (const each of told.toSorted((a, b) => a.startMs - b.startMs)) {
    if (each.endMs <= atMs || each.startMs >= endMs) continue;
    missingMs += Math.max(each.startMs - atMs, 0);
    atMs = each.endMs;
  }
  return missingMs + Math.max(endMs - atMs, 0);
}

/** The words of `reference` that lie before `untilMs` of the call and in none of `told`, by the time they take. */
export function missingWords(
  reference: readonly ReferenceFinal[],
  told: readonly ToldStretch[],
  untilMs: number,
): number {
  let words = 0;
  for (const final of reference) {
    if (final.endMs > untilMs) continue;
    const missingMs = uncoveredMs(final, told);
    if (missingMs > TOLERANCE_MS) words += Math.ceil((final.words * missingMs) / (final.endMs - final.startMs));
  }
  return words;
}
