/** The `trunkline flow` commands. */
import type { Command } from 'commander';
import type { Terminal } from '../terminal.ts';
import { describeFlowFiles } from './files-command.ts';
import { describeFlowTrials } from './test-command.ts';

/** Adds the commands to `program`; `done` gets the exit code. */
export function describeFlows(program: Command, terminal: Terminal, done: (exitCode: number) => void): void {
  const flow = program.command('flow').description('IVR flows: check, draw, try and test');
  describeFlowFiles(flow, terminal, done);
  describeFlowTrials(flow, terminal, done);
}
