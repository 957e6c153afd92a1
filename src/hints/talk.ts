/** The last that was said in a call, as a language model gets it. */

/** One utterance. */
export interface Line {
  readonly speaker: 'caller' | 'agent';
  readonly text: string;
}

interface Kept {
  readonly key: string;
  readonly speaker: Line['speaker'];
  readonly startMs: number;
  text: string;
}

const KEPT_MAX = 60;
const LINE_MAX_CHARS = 1000;
/** What is sent of one call at a time. */
const LINES_MAX = 40;
const CHARS_MAX = 4000;

export class Talk {
  readonly #kept: Kept[] = [];

  /** Takes an utterance, or a later text of one: of an utterance that is no longer kept it is left out. */
  put(key: string, speaker: Line['speaker'], startMs: number, text: string): void {
    const cut = text.slice(0, LINE_MAX_CHARS);
    const known = this.#kept.find((kept) => kept.key === key);
    if (known !== undefined) {
      known.text = cut;
      return;
    }
    this.#kept.push({ key, speaker, startMs, text: cut });
    if (this.#kept.length > KEPT_MAX) this.#kept.shift();
  }

  /** The latest utterances in the order of their beginning, 4000 characters of them. */
  lines(): Line[] {
    const inOrder = this.#kept.filter(({ text }) => text !== '').toSorted((a, b) => a.startMs - b.startMs);
    const latest: Line[] = [];
    let chars = 0;
    for (const { speaker, text } of inOrder.toReversed()) {
      chars += text.length;
      if (latest.length === LINES_MAX || chars > CHARS_MAX) break;
      latest.unshift({ speaker, text });
    }
    return latest;
  }
}
