#!/usr/bin/env node
/**
 * The `trunkline` command. What it needs of the system is checked before the rest is loaded: where files cannot be
 * opened, loading fails with errors about packages.
 */
import { findDescriptorProblem, readDescriptorLimit } from './foundation/machine/descriptor-limit.ts';

const EXIT_CONFIG = 78;

const problem = findDescriptorProblem(readDescriptorLimit());
if (problem === null) await run();
else {
  process.stderr.write(`trunkline: ${problem}\n`);
  process.exitCode = EXIT_CONFIG;
}

async function run(): Promise<void> {
  const { EXIT_OK } = await import('./cli/exit-codes.ts');
  const { runCli } = await import('./cli/program.ts');
  const { openTerminal } = await import('./cli/terminal.ts');
  const exitCode = await runCli(process.argv.slice(2), openTerminal());
  // Output that could not be written has made it a failure already.
  if (exitCode !== EXIT_OK) process.exitCode = exitCode;
}
