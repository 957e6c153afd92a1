/** Checks the variables of a flow: that somebody sets those that are used, and what texts say of them. */
import { didYouMean } from '../../foundation/nearest-name.ts';
import type { YamlPath } from '../../foundation/yaml-document.ts';
import { PromptTextError, readPromptText } from '../prompts/prompt-text.ts';
import type { FlowFile } from './flow-file.ts';
import type { FlowFinding } from './flow-finding.ts';

/** What is known of the call; its own parameters are among it. */
const CALL = /^(call\.|answered\.by$)/;
/** `{name}` in addresses and values; `{{` is a brace. */
const PLACE = /\{\{|\}\}|\{([A-Za-z][\w-]{0,63}(?:\.[A-Za-z][\w-]{0,63})?)(?::[a-z]+)?\}/g;
/** Under these keys names are the writer's own: a `text` there is no prompt. */
const OWN_NAMES = ['query', 'headers', 'body', 'parameters', 'with', 'set', 'handoffData', 'take', 'variables'];
/** Under these keys a text names a variable that is set. */
const SETTING = ['into', 'transcript'];

/** A variable and where the flow names it. */
interface Mention {
  readonly name: string;
  readonly path: YamlPath;
}

/** What a flow does with variables. */
interface Variables {
  readonly set: Mention[];
  readonly used: Mention[];
  readonly findings: FlowFinding[];
}

/** @param isWhole whether all steps could be read: else others may set and use variables, too */
export function checkVariables(file: FlowFile, isWhole: boolean): FlowFinding[] {
  const variables = variablesOf(file);
  const known = new Set(variables.set.map(({ name }) => name));
  const used = new Set(variables.used.map(({ name }) => name));
  const neverSet = variables.used.filter(({ name }) => !known.has(name) && !CALL.test(name));
  const setBySteps = new Set(variables.set.flatMap(({ name, path }) => (path[0] === 'steps' ? [name] : [])));
  // Flows that call this one may take over what its steps set.
  const unused = [
    ...Object.keys(file.parameters ?? {}).map((name) => ({ name, path: ['parameters', name] })),
    ...Object.keys(file.variables ?? {}).flatMap((name) =>
      setBySteps.has(name) ? [] : [{ name, path: ['variables', name] }],
    ),
  ].filter(({ name }) => !used.has(name));
  return [
    ...variables.findings,
    ...variables.set.filter(({ name }) => CALL.test(name)).map(ofTheCall),
    ...(isWhole ? neverSet : []).map(({ name, path }) => ({
      path,
      message: `variable ${name} is never set${didYouMean(name, known)}`,
    })),
    ...(isWhole ? unused : []).map(
      ({ path }): FlowFinding => ({
        path,
        part: 'key',
        message: 'is never used in this flow',
        isWarning: true,
      }),
    ),
  ];
}

/** The names of all variables that a flow has: those that callers of the flow can take over. */
export function namesSetBy(file: FlowFile): Set<string> {
  return new Set(variablesOf(file).set.map(({ name }) => name));
}

function ofTheCall({ path, name }: Mention): FlowFinding {
  return {
    path,
    message: `variable ${name} is one of the call, expected one of the flow, without "${name.split('.')[0]}."`,
  };
}

function variablesOf(file: FlowFile): Variables {
  const variables: Variables = { set: [], used: [], findings: [] };
  for (const key of ['parameters', 'variables'] as const)
    for (const name of Object.keys(file[key] ?? {})) variables.set.push({ name, path: [key, name] });
  if (file.failedPrompt !== undefined) collect(file.failedPrompt, ['failedPrompt'], variables);
  for (const [name, step] of Object.entries(file.steps)) {
    const { next: _next, about: _about, ...verbs } = step;
    const path = ['steps', name];
    for (const set of Object.keys(step.set ?? {})) variables.set.push({ name: set, path: [...path, 'set', set] });
    if (step.flow?.into !== undefined)
      for (const set of Object.keys(step.flow.into))
        variables.set.push({ name: set, path: [...path, 'flow', 'into', set] });
    collect(verbs, path, variables);
  }
  return variables;
}

/** What stands in a value and all that is in it. */
function collect(value: unknown, path: YamlPath, variables: Variables): void {
  if (typeof value === 'string') collectText(value, path, variables);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    if (key === 'take' && isRecord(inner)) {
      for (const name of Object.keys(inner)) variables.set.push({ name, path: [...at, name] });
      continue;
    }
    // What a flow takes over from another is the other's.
    if (key === 'into' && isRecord(inner)) continue;
    collect(inner, at, variables);
  }
}

function collectText(text: string, path: YamlPath, { set, used, findings }: Variables): void {
  const key = path.at(-1);
  const isOwnName = path.slice(0, -1).some((part) => typeof part === 'string' && OWN_NAMES.includes(part));
  if (!isOwnName && SETTING.includes(String(key))) set.push({ name: text, path });
  else if (!isOwnName && key === 'variable') used.push({ name: text, path });
  else if (!isOwnName && key === 'text') collectPrompt(text, path, { used, findings });
  else for (const [, name] of text.matchAll(PLACE)) if (name !== undefined) used.push({ name, path });
}

function collectPrompt(text: string, path: YamlPath, { used, findings }: Pick<Variables, 'used' | 'findings'>): void {
  try {
    for (const part of readPromptText(text)) if (part.kind === 'value') used.push({ name: part.variable, path });
  } catch (error) {
    if (!(error instanceof PromptTextError)) throw error;
    findings.push({ path, message: error.message });
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
