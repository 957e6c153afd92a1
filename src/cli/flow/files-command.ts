/** `trunkline flow check` and `flow draw`: what they take. */
import type { Command } from 'commander';
import { loadSettings } from '../../foundation/settings/config.ts';
import { EXIT_OK } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';

const CHECK_NOTES = `
Each line is path:line:column: what came and what is expected. A folder stands
for its flows, their tests and numbers.yaml; without any argument FLOWS_DIR is
taken. Flows that a file calls, and recordings, are looked for beside it.

--json prints a line for each finding and, last, a summary:
  {"file":"…","line":3,"column":5,"severity":"error","message":"…"}
  {"summary":{"flows":3,"errors":1,"warnings":0}}

Exits with 1 when there is an error.

Editors that know JSON Schema complete names and underline what is wrong where
a flow begins with this line (VS Code: the extension "YAML"):
  # yaml-language-server: $schema=<Trunkline>/docs/reference/flow.schema.json

Examples:
  $ trunkline flow check flows
  $ trunkline flow check flows/shop.yaml`;

const DRAW_NOTES = `
Mermaid is drawn by GitHub, by many editors, and at https://mermaid.live.

Examples:
  $ trunkline flow draw flows/shop.yaml > shop.mmd`;

/** Adds the commands to `flow`; `done` gets the exit code. */
export function describeFlowFiles(flow: Command, terminal: Terminal, done: (exitCode: number) => void): void {
  flow
    .command('check')
    .description('say what is wrong with flows, and where')
    .argument('[paths...]', 'folders of flows, or files')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', CHECK_NOTES)
    .action(async (paths: string[], { json = false }: { readonly json?: boolean }) => {
      const { FLOWS_DIR: folder } = loadSettings({ opensPorts: false });
      const { checkFlows } = await import('./check-flows.ts');
      done(await checkFlows(paths, { json, folder }, terminal));
    });
  flow
    .command('draw')
    .description('print a flow as a Mermaid flowchart')
    .argument('<flow>', 'the file of a flow, or its name in FLOWS_DIR')
    .addHelpText('after', DRAW_NOTES)
    .action(async (path: string) => {
      const { FLOWS_DIR: folder } = loadSettings({ opensPorts: false });
      const [{ drawFlow }, { findFlow }] = await Promise.all([
        import('../../flows/file/draw-flow.ts'),
        import('./find-flow.ts'),
      ]);
      for (const line of drawFlow((await findFlow(path, folder)).main)) terminal.out.line(line);
      done(EXIT_OK);
    });
}
