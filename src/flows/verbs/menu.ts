/** The verb `menu`: choices by key and by words. */
import { z } from 'zod';
import type { YamlPath } from '../../foundation/yaml-document.ts';
import { valueSchema, variableSchema } from '../file/conditions.ts';
import type { FlowFinding } from '../file/flow-finding.ts';
import { type FlowPrompt, keySchema, nameSchema } from '../file/prompts.ts';
import { chooseSpoken } from '../understand/choices.ts';
import { expectedChoice } from '../understand/expected-answers.ts';
import { sharedPhrases } from './check-phrases.ts';
import {
  type Attempt,
  askForAnswer,
  fallbackExits,
  isSure,
  leavesUnanswered,
  nextWithout,
  QUESTION_SHAPE,
  questionPrompts,
  timeoutOf,
} from './question.ts';
import { targetSchema, wordsSchema } from './schemas.ts';
import type { StepExit, StepTools } from './step.ts';
import { defineVerb, exit, type FlowExit } from './verb.ts';

const fullChoice = z.strictObject({
  key: keySchema.optional(),
  say: wordsSchema.optional().describe('Words and phrases that choose it'),
  value: valueSchema.optional().describe('What `into` gets; the name of the choice unless given'),
  next: targetSchema.optional(),
});
/** Words alone are a choice that leads where the step's `next` says. */
const choiceSchema = z.union([wordsSchema.transform((say): z.infer<typeof fullChoice> => ({ say })), fullChoice]);

const schema = z.strictObject({
  ...QUESTION_SHAPE,
  choices: z.record(nameSchema, choiceSchema),
  into: variableSchema.optional(),
});
type Menu = z.infer<typeof schema>;

/** Asks which choice the caller wants, and goes on where that leads. */
export const menu = defineVerb({
  schema: schema.describe('Lets the caller choose, by a key or by voice'),
  takes: 'caller',
  shape: ['{{', '}}'],
  isQuestion: true,
  exits: (fields) => [...choicesOf(fields), ...fallbackExits(fields)],
  goesOn: ({ choices }) => Object.values(choices).some(({ next }) => next === undefined),
  prompts: questionPrompts,
  check: (fields, path, next) => [
    ...checkChoices(fields, [...path, 'choices']),
    ...choicesThatLeadNowhere(fields, path, next),
  ],
  leavesUnanswered,
  exitWithout: nextWithout,
  run: runMenu,
});

async function runMenu(fields: Menu, tools: StepTools): Promise<StepExit> {
  const outcome = await askForAnswer(fields, tools, (prompt) => askOnce(fields, tools, prompt));
  if ('exit' in outcome) return outcome.exit;
  const choice = fields.choices[outcome.answer];
  if (fields.into !== undefined) tools.variables.set(fields.into, chosenValue(fields, outcome.answer));
  return choice?.next ?? null;
}

/** The answer is the name of a choice. */
async function askOnce(fields: Menu, tools: StepTools, prompt: FlowPrompt): Promise<Attempt<string>> {
  const { choices } = fields;
  const keys = Object.values(choices).flatMap(({ key }) => key ?? []);
  const answer = expectedChoice(choices, tools.language);
  const input = await tools.ask(prompt, { timeoutMs: timeoutOf(fields), accepts: 'any', keys, answer });
  if (input.type === 'silence') return { kind: 'none' };
  if (input.type === 'key') {
    const name = Object.entries(choices).find(([, { key }]) => key === input.key)?.[0] ?? null;
    return { kind: 'keys', text: input.key, isAhead: false, understood: understood(fields, name) };
  }
  const name = isSure(input) ? chooseSpoken(input.text, choices, tools.language) : null;
  return { kind: 'speech', text: input.text, isAhead: input.isAhead, understood: understood(fields, name) };
}

function understood(fields: Menu, name: string | null) {
  return name === null ? null : { value: chosenValue(fields, name), answer: name };
}

function chosenValue({ choices }: Menu, name: string) {
  const value = choices[name]?.value;
  return value === undefined ? name : value;
}

function choicesOf({ choices }: Menu): FlowExit[] {
  return Object.entries(choices).flatMap(([name, { key, next }]) =>
    exit('choice', next, ['choices', name, 'next'], key === undefined ? name : `${key} ${name}`),
  );
}

function checkChoices({ choices }: Menu, path: YamlPath): FlowFinding[] {
  if (Object.keys(choices).length === 0) return [{ path, message: 'is empty, expected at least one choice' }];
  const phrases = Object.entries(choices).map(([name, { say }]) => [name, say] as const);
  return [...sharedKeys(choices, path), ...sharedPhrases(phrases, (name, at) => [...path, name, 'say', at])];
}

function sharedKeys(choices: Menu['choices'], path: YamlPath): FlowFinding[] {
  const owners = new Map<string, string>();
  return Object.entries(choices).flatMap(([name, { key }]): FlowFinding[] => {
    const owner = key === undefined ? undefined : owners.get(key);
    if (key !== undefined && owner === undefined) owners.set(key, name);
    if (owner === undefined) return [];
    return [{ path: [...path, name, 'key'], message: `got ${key}, which chooses ${owner} already` }];
  });
}

function choicesThatLeadNowhere({ choices, into }: Menu, path: YamlPath, next: string | null): FlowFinding[] {
  if (into !== undefined || next !== null) return [];
  return Object.entries(choices).flatMap(([name, choice]): FlowFinding[] => {
    if (choice.next !== undefined) return [];
    const message = 'leads nowhere, expected next: here, or for all choices at the step';
    return [{ path: [...path, 'choices', name], part: 'key', message }];
  });
}
