/** Checks that the recordings that a flow plays are there. */
import { didYouMean } from '../../foundation/nearest-name.ts';
import type { YamlPath } from '../../foundation/yaml-document.ts';
import type { Flow, FlowStep } from './flow.ts';
import type { FlowFinding } from './flow-finding.ts';
import { exitsOf } from './flow-graph.ts';

/** The names of the recordings of each language, which is the name of a folder such as en or en-US. */
export type RecordingNames = ReadonlyMap<string, ReadonlySet<string>>;

/** Under these keys names are the writer's own. */
const OWN_NAMES: readonly string[] = ['query', 'headers', 'body', 'parameters', 'with', 'set', 'handoffData', 'take'];

interface Playing {
  readonly path: YamlPath;
  readonly recording: string;
  /** Said where there is no such recording; null = nothing. */
  readonly text: string | null;
}

/** A recording that is missing is an error where no text is said in its place. */
export function checkRecordings(flow: Flow, recordings: RecordingNames): FlowFinding[] {
  const { failedPrompt, steps } = flow.file;
  const all = new Set([...recordings.values()].flatMap((names) => [...names]));
  const spoken = spokenIn(flow, recordings);
  const playings = [...playingsIn(failedPrompt, ['failedPrompt']), ...playingsIn(steps, ['steps'])];
  const replaced = replacedIn(flow, playings, recordings);
  const missing = playings.flatMap(({ path, recording, text }): FlowFinding[] => {
    if (spoken.has(recording)) return lostValues(text).map((message) => ({ path, message, isWarning: true }));
    const isElsewhere = all.has(recording);
    const where = isElsewhere ? `in the language ${flow.language}` : 'in prompts/';
    const message = `there is no recording ${recording} ${where}${isElsewhere ? '' : didYouMean(recording, all)}`;
    if (text !== null || isElsewhere) return [{ path, message, isWarning: true }];
    return [{ path, message: `${message}, and no text that would be said in its place` }];
  });
  return [...missing, ...replaced];
}

/** Recordings without a text that are played in the flow's language after a step has chosen another one. */
function replacedIn(flow: Flow, playings: readonly Playing[], recordings: RecordingNames): FlowFinding[] {
  const { language } = flow;
  if (language === null) return [];
  const has = (name: string, spoken: string): boolean =>
    [...recordings].some(([folder, names]) => baseOf(folder) === baseOf(spoken) && names.has(name));
  return [...stepsIn(flow)].flatMap(([spoken, steps]) =>
    playings.flatMap(({ path, recording, text }): FlowFinding[] => {
      const isSpoken = path[0] === 'steps' && steps.has(String(path[1]));
      if (text !== null || !isSpoken || has(recording, spoken) || !has(recording, language)) return [];
      const what = `there is no recording ${recording} in the language ${spoken}`;
      return [{ path, message: `${what}: that of ${language} is played there`, isWarning: true }];
    }),
  );
}

/** The steps that may come while a language is spoken that a step has chosen. */
function stepsIn(flow: Flow): Map<string, Set<string>> {
  const reached = new Map<string, Set<string>>();
  for (const step of flow.steps.values()) {
    if (step.verb !== 'language') continue;
    const spoken = reached.get(step.fields.to) ?? new Set();
    reached.set(step.fields.to, spoken);
    const waiting: FlowStep[] = [step];
    for (let next: FlowStep | undefined = waiting.pop(); next !== undefined; next = waiting.pop())
      for (const { to } of exitsOf(next)) {
        const found = flow.steps.get(to);
        if (found === undefined || spoken.has(to) || found.verb === 'language') continue;
        spoken.add(to);
        waiting.push(found);
      }
  }
  return reached;
}

/** A recording is played as it is, whatever variables hold. */
function lostValues(text: string | null): string[] {
  const [value] = /\{[^{}]+\}/.exec(text?.replaceAll('{{', '') ?? '') ?? [];
  if (value === undefined) return [];
  return [`the recording is played as it is, so ${value} of the text is not said: put that into a step of its own`];
}

/** Those of the flow's language, or of all where it says none, or changes it. */
function spokenIn({ language, steps }: Flow, recordings: RecordingNames): Set<string> {
  const isFixed = language !== null && ![...steps.values()].some(({ verb }) => verb === 'language' || verb === 'flow');
  const fitting = [...recordings].filter(([folder]) => !isFixed || baseOf(folder) === baseOf(language));
  return new Set(fitting.flatMap(([, names]) => [...names]));
}

function baseOf(language: string): string {
  return language.toLowerCase().split(/[-_]/)[0] ?? '';
}

function playingsIn(value: unknown, path: YamlPath): Playing[] {
  if (typeof value !== 'object' || value === null) return [];
  const { recording, text } = value as { readonly recording?: unknown; readonly text?: unknown };
  const own =
    typeof recording === 'string'
      ? [{ path: [...path, 'recording'], recording, text: typeof text === 'string' ? text : null }]
      : [];
  const inner = Object.entries(value).flatMap(([key, part]) => {
    const isOwnName = OWN_NAMES.includes(key) && path.length > 2;
    return isOwnName ? [] : playingsIn(part, [...path, Array.isArray(value) ? Number(key) : key]);
  });
  return [...own, ...inner];
}
