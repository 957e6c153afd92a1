#!/usr/bin/env node
/** The `trunkline` command. */
import { runCli } from './cli/program.ts';
import { openTerminal } from './cli/terminal.ts';

process.exitCode = await runCli(process.argv.slice(2), openTerminal());
