/**
 * Matches a pattern in time proportional to the length of the text, whatever the pattern is: all ways through it are
 * followed at once (Thompson, "Regular Expression Search Algorithm", 1968; Cox, "Regular Expression Matching Can Be
 * Simple And Fast", 2007).
 */
import {
  type CharacterTest,
  foldCase,
  isWordCharacter,
  PatternError,
  type PatternNode,
  readPattern,
} from './pattern-syntax.ts';

/** Characters of a text, the end not counted. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

type Step =
  | { readonly type: 'character'; readonly test: CharacterTest }
  | { readonly type: 'boundary'; readonly isNegated: boolean }
  | { readonly type: 'fork'; readonly to: readonly [number, number] }
  | { readonly type: 'jump'; readonly to: number }
  | { readonly type: 'match' };

const STEPS_MAX = 1000;
const NONE = -1;

/** Steps that wait for a character, in the order in which their matches began. */
interface Waiting {
  readonly steps: number[];
  readonly starts: number[];
}

/** A compiled pattern. */
export class LinearPattern {
  readonly #steps: readonly Step[];
  /** Which steps were seen at this place of the text. */
  readonly #seenAt: Uint32Array;
  #place = 0;
  /** Steps that wait at the beginning of a match, at a boundary of words and elsewhere. */
  readonly #first: readonly [Waiting, Waiting];

  /** @throws PatternError when the pattern cannot be used: its syntax, its size, or that it matches nothing at all */
  constructor(pattern: string) {
    this.#steps = compile(readPattern(pattern));
    this.#seenAt = new Uint32Array(this.#steps.length);
    const first = [false, true].map((isBoundary) => {
      const waiting: Waiting = { steps: [], starts: [] };
      this.#place++;
      if (this.#follow(0, { start: 0, isBoundary, into: waiting }))
        throw new PatternError('got a pattern that matches an empty text');
      return waiting;
    });
    this.#first = [first[0] as Waiting, first[1] as Waiting];
  }

  /** How many steps it has: the time per character is proportional to them. */
  get size(): number {
    return this.#steps.length;
  }

  /** Every part of `text` that belongs to a match, joined where they overlap. */
  find(text: string): Range[] {
    const found: { from: number; to: number }[] = [];
    let moved: Waiting = { steps: [], starts: [] };
    let wasWord = false;
    let at = 0;
    for (const character of [...text, '']) {
      const isWord = character !== '' && isWordCharacter(character);
      const isBoundary = wasWord !== isWord;
      const folded = character === '' ? '' : foldCase(character);
      const waiting: Waiting = { steps: [], starts: [] };
      this.#place++;
      for (const [index, step] of moved.steps.entries()) {
        const start = moved.starts[index] ?? at;
        if (this.#follow(step, { start, isBoundary, into: waiting })) note(found, start, at);
      }
      moved = { steps: [], starts: [] };
      this.#advance(waiting, folded, null, moved);
      this.#advance(this.#first[isBoundary ? 1 : 0], folded, at, moved);
      wasWord = isWord;
      at += character.length;
    }
    return found;
  }

  /** Takes the steps of `waiting` that accept `character`; `start` = where they begin, null = as they say. */
  #advance({ steps, starts }: Waiting, character: string, start: number | null, into: Waiting): void {
    if (character === '') return;
    for (const [index, state] of steps.entries()) {
      const step = this.#steps[state];
      if (step?.type !== 'character' || !step.test(character)) continue;
      into.steps.push(state + 1);
      into.starts.push(start ?? starts[index] ?? 0);
    }
  }

  /**
   * Adds all steps that are reached from `state` without a character. The earliest matches come first, so a step that
   * was seen needs no second visit. Returns whether a match ends here.
   */
  #follow(state: number, { start, isBoundary, into }: { start: number; isBoundary: boolean; into: Waiting }): boolean {
    let isMatch = false;
    const open = [state];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (this.#seenAt[next] === this.#place) continue;
      this.#seenAt[next] = this.#place;
      const step = this.#steps[next];
      if (step?.type === 'jump') open.push(step.to);
      else if (step?.type === 'fork') open.push(...step.to);
      else if (step?.type === 'boundary') {
        if (isBoundary !== step.isNegated) open.push(next + 1);
      } else if (step?.type === 'match') isMatch = true;
      else {
        into.steps.push(next);
        into.starts.push(start);
      }
    }
    return isMatch;
  }
}

function note(found: { from: number; to: number }[], from: number, to: number): void {
  const last = found.at(-1);
  if (last !== undefined && from < last.to) {
    last.from = Math.min(last.from, from);
    last.to = to;
  } else found.push({ from, to });
}

function compile(node: PatternNode): Step[] {
  const steps: Step[] = [];
  emit(node, steps);
  steps.push({ type: 'match' });
  return steps;
}

function emit(node: PatternNode, steps: Step[]): void {
  if (steps.length > STEPS_MAX)
    throw new PatternError(`got a pattern of more than ${STEPS_MAX} steps, expected fewer repetitions`);
  switch (node.type) {
    case 'character':
    case 'boundary':
      steps.push(node);
      return;
    case 'sequence':
      for (const part of node.parts) emit(part, steps);
      return;
    case 'choice':
      emitChoice(node.parts, steps);
      return;
    case 'repeat':
      emitRepeat(node, steps);
      return;
  }
}

function emitChoice(parts: readonly PatternNode[], steps: Step[]): void {
  const ends: number[] = [];
  parts.forEach((part, index) => {
    const isLast = index === parts.length - 1;
    const fork = isLast ? NONE : steps.push({ type: 'match' }) - 1;
    emit(part, steps);
    if (isLast) return;
    ends.push(steps.push({ type: 'match' }) - 1);
    steps[fork] = { type: 'fork', to: [fork + 1, steps.length] };
  });
  for (const end of ends) steps[end] = { type: 'jump', to: steps.length };
}

function emitRepeat({ part, min, max }: Extract<PatternNode, { type: 'repeat' }>, steps: Step[]): void {
  for (let count = 0; count < min; count++) {
    const before = steps.length;
    emit(part, steps);
    // Nothing, however often: groups of nothing that repeat each other would take for ever.
    if (steps.length === before) break;
  }
  if (max === Number.POSITIVE_INFINITY) {
    const fork = steps.push({ type: 'match' }) - 1;
    emit(part, steps);
    steps.push({ type: 'jump', to: fork });
    steps[fork] = { type: 'fork', to: [fork + 1, steps.length] };
    return;
  }
  const forks: number[] = [];
  for (let count = min; count < max; count++) {
    forks.push(steps.push({ type: 'match' }) - 1);
    emit(part, steps);
  }
  for (const fork of forks) steps[fork] = { type: 'fork', to: [fork + 1, steps.length] };
}
