/** The verb `menu`: choices by key and by words. */
import type { FlowPrompt } from '../file/prompts.ts';
import type { VerbFields } from '../file/verbs.ts';
import { chooseSpoken } from '../understand/choices.ts';
import { expectedChoice } from '../understand/expected-answers.ts';
import { type Attempt, askForAnswer, isSure, timeoutOf } from './question.ts';
import type { StepExit, StepTools } from './step.ts';

type Menu = VerbFields['menu'];

/** Asks which choice the caller wants, and goes on where that leads. */
export async function runMenu(fields: Menu, tools: StepTools): Promise<StepExit> {
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
