/** `trunkline flow test` and `flow call`: what they take. */
import type { Command } from 'commander';
import { loadSettings } from '../../foundation/settings/config.ts';
import { addParameter, parseCount } from '../arguments.ts';
import type { Terminal } from '../terminal.ts';
import type { CallFlowOptions } from './call-flow.ts';
import type { TestOptions } from './run-tests.ts';

/** Tests are calls that mostly wait. */
const PARALLEL = 8;

const TEST_NOTES = `
A folder stands for all its files *.test.yaml; without any argument FLOWS_DIR is
taken. Each test is a call over a simulated line with a server of its own: a
synthetic voice says what the script says, and the flow hears, speaks and is
timed as with a caller. Web servers, transfers and apps are never reached: the
tests say what they answer. With --text nothing is spoken or recognised, and
time does not pass: seconds become milliseconds.

--json prints a line for each test and, last, a summary:
  {"test":"…","passed":true,"file":"…","flow":"shop","failures":[],…}
  {"summary":{"passed":9,"failed":0,"coverage":[…]}}

Exits with 1 when a test failed, 130 after Ctrl-C.

Examples:
  $ trunkline flow test flows
  $ trunkline flow test flows/shop.test.yaml --text
  $ trunkline flow test flows --junit results.xml`;

const CALL_NOTES = `
What you type is what you say, /1 or a row of digits are keys, and an empty line
is silence until the flow does something. Ctrl-D hangs up. Web servers are asked;
transfers are only told.

Examples:
  $ trunkline flow call flows/shop.yaml
  $ trunkline flow call flows/shop.yaml --steps --at 2026-11-23T22:00`;

type Done = (exitCode: number) => void;

/** Adds the commands to `flow`; `done` gets the exit code. */
export function describeFlowTrials(flow: Command, terminal: Terminal, done: Done): void {
  flow
    .command('test')
    .description('let scripted callers try flows, over a simulated telephone line')
    .argument('[paths...]', 'folders of flows, or files of tests')
    .option('--parallel <count>', 'tests at the same time', parseCount, PARALLEL)
    .option('--junit <file>', 'also write the results as JUnit XML')
    .option('--text', 'without sound')
    .option('--json', 'print the results as JSON')
    .addHelpText('after', TEST_NOTES)
    .action(async (paths: string[], { text = false, json = false, ...options }: TestOptions) => {
      const settings = loadSettings({ opensPorts: false });
      const { runTests } = await import('./run-tests.ts');
      done(await runTests(paths, { text, json, ...options }, settings, terminal));
    });
  flow
    .command('call')
    .description('talk with a flow in the terminal')
    .argument('<flow>', 'the file of a flow, or its name in FLOWS_DIR')
    .option('--steps', 'show each step')
    .option('--var <name=value>', 'variable at the beginning; may be repeated', addParameter)
    .option('--param <name=value>', 'parameter of the call; may be repeated', addParameter)
    .option('--at <time>', 'what time it is, such as 2026-11-23T22:00')
    .option('--from <number>', 'number of the caller')
    .option('--to <number>', 'number that is called')
    .option('--transfer-fails', 'nobody answers transfers')
    .addHelpText('after', CALL_NOTES)
    .action(async (flowPath: string, options: Partial<CallFlowOptions>) => {
      const settings = loadSettings({ opensPorts: false });
      const { callFlow } = await import('./call-flow.ts');
      const usual = { var: {}, param: {}, steps: false, transferFails: false };
      done(await callFlow(flowPath, { ...usual, ...options }, settings, terminal));
    });
}
