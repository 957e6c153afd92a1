/** What was said last in calls that went on before the page came; a few requests at a time. */
import { callPath, getJson } from '../gateway.js';

/** A browser has six connections to a server, and the feed holds one. */
const AT_ONCE_MAX = 3;

export class RecentWords {
  /** @type {string[]} */
  #waiting = [];
  /** @type {Set<string>} */
  #asked = new Set();
  #running = 0;
  #onWords;

  /** @param {(id: string, items: readonly any[]) => void} onWords gets the transcript of a call */
  constructor(onWords) {
    this.#onWords = onWords;
  }

  /** Asks for the words of a call, once. @param {string} id */
  want(id) {
    if (this.#asked.has(id)) return;
    this.#asked.add(id);
    this.#waiting.push(id);
    this.#run();
  }

  #run() {
    while (this.#running < AT_ONCE_MAX) {
      const id = this.#waiting.shift();
      if (id === undefined) return;
      this.#running += 1;
      void this.#load(id).finally(() => {
        this.#running -= 1;
        this.#run();
      });
    }
  }

  /** A call that is gone by now has no words, and needs none. @param {string} id */
  async #load(id) {
    const answer = await getJson(`${callPath(id)}/transcript?format=json`).catch(() => null);
    if (answer !== null) this.#onWords(id, answer.data);
  }
}
