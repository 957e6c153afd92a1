/**
 * Greedy decoding of a token-and-duration transducer: each step gives the likeliest token and how many frames it lasts.
 * Xu et al., "Efficient Sequence Transduction by Jointly Predicting Tokens and Durations" (2023), arXiv:2304.06795; the
 * limit of tokens for one frame is NeMo's (`max_symbols`).
 */
import type { Steps } from '../../scheduler.ts';
import { HotWordSearch, type HotWords } from '../hot-words.ts';
import { logprobOf, mostLikely } from '../logits.ts';
import type { JointNetwork, TextState } from './joint.ts';

/** Tokens of one frame at most: behind them the next frame is looked at. */
export const TOKENS_PER_FRAME_MAX = 10;

/** Durations that a model knows; the published ones know five. */
const DURATIONS_MAX = 16;

/** Runs between two of which nothing urgent is let in: each takes a fraction of a millisecond. */
const RUNS_PER_STEP = 16;

/** Encoded speech: [width, stride] in one array, of which each row begins with `frames` numbers. */
export interface EncodedSpeech {
  readonly values: Float32Array;
  readonly width: number;
  readonly stride: number;
  readonly frames: number;
}

/** A token, when it was said, and how sure the model is of it. */
export interface SpokenToken {
  readonly token: number;
  /** The frame that it was found in. */
  readonly frame: number;
  /** How many frames it lasts, by the model. */
  readonly frames: number;
  /** The natural logarithm of its probability. */
  readonly logprob: number;
}

/** A place in the speech and in the text, from which decoding can go on. */
interface Place {
  readonly frame: number;
  /** Tokens found in this frame so far. */
  readonly here: number;
  readonly text: TextState;
}

/** A token with the place it was found at, and what else could have been chosen there. */
interface Found extends SpokenToken {
  readonly place: Place;
  readonly likeliest: { readonly token: number; readonly logprob: number };
}

/** Decodes speech by a network that is open. */
export class Transducer {
  readonly #joint: JointNetwork;
  readonly #blank: number;

  constructor(joint: JointNetwork, blank: number) {
    this.#joint = joint;
    this.#blank = blank;
  }

  /** The tokens of `speech`, with a bias to `hotWords` if there are any. */
  async *decode(speech: EncodedSpeech, hotWords: HotWords | null): Steps<SpokenToken[]> {
    const start = { frame: 0, here: 0, text: await this.#joint.read(this.#blank, null) };
    const search = hotWords === null ? null : new HotWordSearch(hotWords);
    const found = yield* this.#follow(speech, start, [], search);
    const kept = search?.end() ?? found.length;
    const dropped = found[kept];
    if (dropped === undefined) return found;
    // A hot word that is not complete at the end of the speech is no hot word.
    const own = { ...dropped, ...dropped.likeliest };
    return yield* this.#follow(speech, await this.#behind(own), [...found.slice(0, kept), own], null);
  }

  async *#follow(
    speech: EncodedSpeech,
    from: Place,
    before: readonly Found[],
    search: HotWordSearch | null,
  ): Steps<Found[]> {
    let place = from;
    let found = [...before];
    for (let runs = 1; place.frame < speech.frames; runs++) {
      if (runs % RUNS_PER_STEP === 0) yield;
      const logits = await this.#joint.score(frameOf(speech, place.frame), place.text);
      this.#checkLogits(logits.length);
      const token = mostLikely(logits, 0, this.#blank + 1);
      const frames = durationOf(logits, this.#blank + 1);
      if (token === this.#blank) {
        place = { frame: place.frame + Math.max(frames, 1), here: 0, text: place.text };
        continue;
      }
      const probability = (of: number) => logprobOf(logits, { row: 0, count: this.#blank + 1, likeliest: token }, of);
      const likeliest = { token, logprob: probability(token) };
      const choice = search?.choose(token, (other) => logits[other] ?? Number.NEGATIVE_INFINITY);
      const next = this.#chosen(found, { place, frame: place.frame, frames, likeliest }, choice, probability);
      found = next;
      place = await this.#behind(next.at(-1) as Found);
    }
    return found;
  }

  /** @throws Error when the vocabulary is another model's */
  #checkLogits(count: number): void {
    const durations = count - this.#blank - 1;
    if (durations >= 1 && durations <= DURATIONS_MAX) return;
    throw new Error(
      `the model gives ${count} numbers for each step, expected one for each of the ${this.#blank + 1} tokens of the ` +
        `vocabulary, and 1 to ${DURATIONS_MAX} durations`,
    );
  }

  /** The tokens found so far with the one that is chosen now, and without those that are taken back. */
  #chosen(
    found: readonly Found[],
    now: Pick<Found, 'place' | 'frame' | 'frames' | 'likeliest'>,
    choice: ReturnType<HotWordSearch['choose']> | undefined,
    probability: (token: number) => number,
  ): Found[] {
    if (choice === undefined) return [...found, { ...now, ...now.likeliest }];
    const taken = found[choice.kept];
    if (taken !== undefined) return [...found.slice(0, choice.kept), { ...taken, ...taken.likeliest }];
    return [...found, { ...now, token: choice.token, logprob: probability(choice.token) }];
  }

  /** The place behind a token. */
  async #behind({ token, frames, place }: Found): Promise<Place> {
    const text = await this.#joint.read(token, place.text);
    const here = place.here + 1;
    if (frames > 0) return { frame: place.frame + frames, here: 0, text };
    return here < TOKENS_PER_FRAME_MAX ? { frame: place.frame, here, text } : { frame: place.frame + 1, here: 0, text };
  }
}

function frameOf({ values, width, stride }: EncodedSpeech, frame: number): Float32Array {
  const column = new Float32Array(width);
  for (let row = 0, at = frame; row < width; row++, at += stride) column[row] = values[at] as number;
  return column;
}

/** How many frames to go on: behind the logits of the tokens are those of 0, 1, 2 … frames. */
function durationOf(logits: Float32Array, from: number): number {
  let best = from;
  for (let i = from + 1; i < logits.length; i++) if ((logits[i] as number) > (logits[best] as number)) best = i;
  return best - from;
}
