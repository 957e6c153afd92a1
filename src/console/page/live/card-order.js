/** The order of the cards: failed and slow calls first, else by their beginning. It needs no document. */

/** A call that gets worse moves up after so long: a short hitch moves nothing. */
const WORSE_AFTER_MS = 1000;
/** One that recovers stays up for so long, so that cards do not go up and down all the time. */
const BETTER_AFTER_MS = 15_000;

/** @type {Readonly<Record<string, number>>} */
const RANKS = { failed: 0, slow: 1 };
const RANK_USUAL = 2;

/** @typedef {{ id: string, level: string, startedAt: string }} Ordered */

export class CardOrder {
  /** @type {Map<string, { rank: number, wanted: number, sinceMs: number }>} */
  #places = new Map();

  /**
   * The ids of `calls` in the order in which they are to stand now.
   * @param {readonly Ordered[]} calls @param {number} nowMs @returns {string[]}
   */
  arrange(calls, nowMs) {
    const ids = new Set(calls.map(({ id }) => id));
    for (const id of this.#places.keys()) if (!ids.has(id)) this.#places.delete(id);
    const ranked = calls.map((call) => ({ call, rank: this.#rank(call, nowMs) }));
    ranked.sort(
      (a, b) => a.rank - b.rank || compare(a.call.startedAt, b.call.startedAt) || compare(a.call.id, b.call.id),
    );
    return ranked.map(({ call }) => call.id);
  }

  /** @param {Ordered} call @param {number} nowMs */
  #rank({ id, level }, nowMs) {
    const wanted = RANKS[level] ?? RANK_USUAL;
    const place = this.#places.get(id);
    if (place === undefined) {
      this.#places.set(id, { rank: wanted, wanted, sinceMs: nowMs });
      return wanted;
    }
    if (place.wanted !== wanted) Object.assign(place, { wanted, sinceMs: nowMs });
    const waitMs = wanted < place.rank ? WORSE_AFTER_MS : BETTER_AFTER_MS;
    if (nowMs - place.sinceMs >= waitMs) place.rank = wanted;
    return place.rank;
  }
}

/** @param {string} a @param {string} b */
function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
