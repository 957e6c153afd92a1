/** Checks what the questions of a flow take for an answer. */
import type { YamlPath } from '../../foundation/yaml-document.ts';
import type { FlowFile } from './flow-file.ts';
import type { FlowFinding } from './flow-finding.ts';
import type { VerbFields } from './verbs.ts';

type Gather = VerbFields['gather'];

/** Kinds of answers that `min` and `max` say something of. */
const WITH_BOUNDS: readonly Gather['kind'][] = ['digits', 'number', 'amount', 'phone', 'date'];
const MOST_DIGITS = 100;

/** Menus without choices, choices that nobody can tell apart, and what a `gather` has no use for. */
export function checkQuestions({ steps }: FlowFile): FlowFinding[] {
  return Object.entries(steps).flatMap(([name, { menu, gather }]) => [
    ...(menu === undefined ? [] : checkMenu(menu, ['steps', name, 'menu', 'choices'])),
    ...(gather === undefined ? [] : checkGather(gather, ['steps', name, 'gather'])),
  ]);
}

function checkMenu({ choices }: VerbFields['menu'], path: YamlPath): FlowFinding[] {
  if (Object.keys(choices).length === 0) return [{ path, message: 'is empty, expected at least one choice' }];
  const phrases = Object.entries(choices).map(([name, { say }]) => [name, say] as const);
  return [...sharedKeys(choices, path), ...sharedPhrases(phrases, (name, at) => [...path, name, 'say', at])];
}

function sharedKeys(choices: VerbFields['menu']['choices'], path: YamlPath): FlowFinding[] {
  const owners = new Map<string, string>();
  return Object.entries(choices).flatMap(([name, { key }]): FlowFinding[] => {
    const owner = key === undefined ? undefined : owners.get(key);
    if (key !== undefined && owner === undefined) owners.set(key, name);
    if (owner === undefined) return [];
    return [{ path: [...path, name, 'key'], message: `got ${key}, which chooses ${owner} already` }];
  });
}

/** A choice is said by its name, too. */
function sharedPhrases(
  choices: readonly (readonly [name: string, say: readonly string[] | undefined])[],
  placeOf: (name: string, at: number) => YamlPath,
): FlowFinding[] {
  const owners = new Map<string, string>();
  for (const [name] of choices) owners.set(asSaid(name), name);
  return choices.flatMap(([name, say = []]) =>
    say.flatMap((phrase, at): FlowFinding[] => {
      const said = asSaid(phrase);
      const owner = owners.get(said) ?? name;
      owners.set(said, owner);
      if (said === '') return [{ path: placeOf(name, at), message: `got ${JSON.stringify(phrase)}, expected words` }];
      if (owner === name) return [];
      const message = `got ${JSON.stringify(phrase)}, which chooses ${owner} already`;
      return [{ path: placeOf(name, at), message }];
    }),
  );
}

function asSaid(phrase: string): string {
  return phrase
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

function checkGather(gather: Gather, path: YamlPath): FlowFinding[] {
  const { kind, choices = {}, min, max } = gather;
  const findings: FlowFinding[] = [];
  const refuse = (field: keyof Gather, message: string): void => {
    findings.push({ path: [...path, field], message });
  };
  const names = Object.entries(choices);
  if (kind === 'choice' && names.length === 0)
    refuse('choices', 'is missing, expected at least one for the kind choice');
  if (kind !== 'choice' && gather.choices !== undefined) refuse('choices', `has no meaning for the kind ${kind}`);
  if (kind !== 'amount' && gather.currency !== undefined) refuse('currency', `has no meaning for the kind ${kind}`);
  findings.push(...sharedPhrases(names, (name, at) => [...path, 'choices', name, at]));
  for (const field of ['min', 'max'] as const) {
    const bound = gather[field];
    if (bound === undefined) continue;
    if (!WITH_BOUNDS.includes(kind)) refuse(field, `has no meaning for the kind ${kind}`);
    const isCount = Number.isInteger(bound) && bound >= 1 && bound <= MOST_DIGITS;
    if (kind === 'date' && !Number.isInteger(bound)) refuse(field, `got ${bound}, expected whole days from today`);
    if (kind === 'digits' && !isCount) refuse(field, `got ${bound}, expected 1 to ${MOST_DIGITS} digits`);
  }
  if (min !== undefined && max !== undefined && min > max) refuse('max', `got ${max}, expected at least min (${min})`);
  return findings;
}
