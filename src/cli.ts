#!/usr/bin/env node
/** The `trunkline` command. */
import { EXIT_OK } from './cli/exit-codes.ts';
import { runCli } from './cli/program.ts';
import { openTerminal } from './cli/terminal.ts';

const exitCode = await runCli(process.argv.slice(2), openTerminal());
// Output that could not be written has made it a failure already.
if (exitCode !== EXIT_OK) process.exitCode = exitCode;
