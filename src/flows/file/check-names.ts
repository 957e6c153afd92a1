/** Checks that a flow can be named by others. */
import type { FlowFinding } from './flow-finding.ts';
import { nameSchema } from './prompts.ts';

/** @param names of all flows of the folder */
export function checkName(name: string, names: Iterable<string>): FlowFinding[] {
  const findings: FlowFinding[] = [];
  const warn = (message: string): void => {
    findings.push({ path: [], message, isWarning: true });
  };
  if (!nameSchema.safeParse(name).success)
    warn(
      `numbers.yaml and other flows cannot name ${JSON.stringify(name)}, expected a file such as opening-hours.yaml`,
    );
  const twin = [...names].find((other) => other !== name && other.toLowerCase() === name.toLowerCase());
  if (twin !== undefined) warn(`only small and capital letters tell it from ${twin}.yaml, expected another name`);
  return findings;
}
