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

/** A compiled pattern. */
export class LinearPattern {
  readonly #steps: readonly Step[];

  /** @throws PatternError when the pattern cannot be used: its syntax, its size, or that it matches nothing at all */
  constructor(pattern: string) {
    this.#steps = compile(readPattern(pattern));
    if (this.#closure([0], [0], '', '', 0).match !== NONE)
      throw new PatternError('got a pattern that matches an empty text');
  }

  /** How many steps it has: the time per character is proportional to them. */
  get size(): number {
    return this.#steps.length;
  }

  /** Every part of `text` that belongs to a match, joined where they overlap. */
  find(text: string): Range[] {
    const found: { from: number; to: number }[] = [];
    let states: number[] = [];
    let starts: number[] = [];
    let before = '';
    let at = 0;
    for (const character of [...text, '']) {
      const reached = this.#closure([...states, 0], [...starts, at], before, character, at);
      if (reached.match !== NONE && reached.match < at) note(found, reached.match, at);
      states = [];
      starts = [];
      const folded = foldCase(character);
      if (character !== '') {
        reached.states.forEach((state, index) => {
          const step = this.#steps[state];
          if (step?.type !== 'character' || !step.test(folded)) return;
          states.push(state + 1);
          starts.push(reached.starts[index] ?? 0);
        });
      }
      before = character;
      at += character.length;
    }
    return found;
  }

  /** All steps that are reached without a character, each with where its match began first. */
  #closure(states: readonly number[], starts: readonly number[], before: string, next: string, at: number) {
    const reached: number[] = [];
    const began: number[] = [];
    const firstOf = new Map<number, number>();
    let match = NONE;
    const isBoundary = isWordCharacter(before) !== isWordCharacter(next);
    // The earliest beginnings come first, so that a step that was seen needs no second visit.
    const order = states.map((_, index) => index).toSorted((a, b) => (starts[a] ?? 0) - (starts[b] ?? 0));
    for (const index of order) {
      const start = starts[index] ?? at;
      const open = [states[index] ?? 0];
      for (let state = open.pop(); state !== undefined; state = open.pop()) {
        if (firstOf.has(state)) continue;
        firstOf.set(state, start);
        const step = this.#steps[state];
        if (step?.type === 'jump') open.push(step.to);
        else if (step?.type === 'fork') open.push(...step.to);
        else if (step?.type === 'boundary') {
          if (isBoundary !== step.isNegated) open.push(state + 1);
        } else if (step?.type === 'match') match = match === NONE ? start : Math.min(match, start);
        else {
          reached.push(state);
          began.push(start);
        }
      }
    }
    return { states: reached, starts: began, match };
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
  for (let count = 0; count < min; count++) emit(part, steps);
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
