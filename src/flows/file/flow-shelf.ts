/** The flows of a folder: which version of each is used, and what is wrong with the others. */
import type { YamlProblem } from '../../foundation/yaml-document.ts';
import { checkCalls } from './check-calls.ts';
import { checkLanguages } from './check-languages.ts';
import { checkName } from './check-names.ts';
import { checkRecordings, type RecordingNames } from './check-recordings.ts';
import { checkWaysOut } from './check-ways-out.ts';
import type { Flow, FlowSet } from './flow.ts';
import type { FlowFinding } from './flow-finding.ts';
import { calledBy, flowSetOf } from './flow-set.ts';
import { problemsOf, type ReadFlow } from './read-flow.ts';

/** A flow's file as it is now, and the last version of it that was right. */
export interface ShelvedFlow {
  readonly read: ReadFlow;
  /** Null = it was never right. */
  readonly good: Flow | null;
}

/** What came of a flow. */
export interface JudgedFlow {
  /** With all that it calls; null = it cannot be used as it is. */
  readonly set: FlowSet | null;
  /** What others use that call it; null = nothing. */
  readonly good: Flow | null;
  readonly errors: readonly YamlProblem[];
  readonly warnings: readonly YamlProblem[];
}

/** Looks at all flows together. A flow that cannot be used leaves others the version of it that was right. */
export function judgeFlows(
  shelf: ReadonlyMap<string, ShelvedFlow>,
  recordings: RecordingNames,
): Map<string, JudgedFlow> {
  const flows = new Map<string, Flow>();
  const errors = new Map<string, readonly YamlProblem[]>();
  const missing = new Map<string, readonly FlowFinding[]>();
  for (const [name, { read, good }] of shelf) {
    const flow = read.flow ?? good;
    if (flow !== null) flows.set(name, flow);
    if (read.errors.length > 0) errors.set(name, read.errors);
    else if (read.flow !== null) missing.set(name, checkRecordings(read.flow, recordings));
  }
  refuse({ shelf, flows, errors, missing });
  const called = new Set([...flows.values()].flatMap(calledBy));
  const judge = (name: string, { read }: ShelvedFlow): JudgedFlow => {
    const wrong = errors.get(name) ?? [];
    const set = wrong.length > 0 ? null : flowSetOf(name, flows);
    const endings = read.flow === null || called.has(name) ? [] : checkWaysOut(read.flow, flows);
    const names = checkName(name, shelf.keys());
    const languages = set === null ? [] : checkLanguages(set);
    const found = [
      ...(missing.get(name) ?? []).filter(({ isWarning }) => isWarning),
      ...endings,
      ...languages,
      ...names,
    ];
    const warnings = [...read.warnings, ...problemsOf(found, read.document)].toSorted((a, b) => a.line - b.line);
    return { set, good: flows.get(name) ?? null, errors: wrong, warnings };
  };
  return new Map([...shelf].map(([name, shelved]) => [name, judge(name, shelved)]));
}

interface Judging {
  readonly shelf: ReadonlyMap<string, ShelvedFlow>;
  readonly flows: Map<string, Flow>;
  readonly errors: Map<string, readonly YamlProblem[]>;
  /** What is said of each flow's recordings. */
  readonly missing: ReadonlyMap<string, readonly FlowFinding[]>;
}

/**
 * Takes out of `flows` what has no recordings or calls others wrongly, until no more is found: each may be what another
 * one calls.
 */
function refuse({ shelf, flows, errors, missing }: Judging): void {
  let isSettled = false;
  const refused = new Set(errors.keys());
  while (!isSettled) {
    isSettled = true;
    for (const [name, { read, good }] of shelf) {
      if (read.flow === null || errors.has(name)) continue;
      const found = [...checkCalls(read.flow, flows, refused), ...(missing.get(name) ?? [])];
      const findings = found.filter(({ isWarning }) => isWarning === undefined);
      if (findings.length === 0) continue;
      isSettled = false;
      refused.add(name);
      errors.set(name, problemsOf(findings, read.document));
      if (good === null || good === read.flow) flows.delete(name);
      else flows.set(name, good);
    }
  }
}
