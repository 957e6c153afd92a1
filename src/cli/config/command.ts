/** The `trunkline config` commands: what they take. Their code is loaded when one is run. */
import type { Command } from 'commander';
import { loadSettings, loadSettingsWith } from '../../foundation/settings/config.ts';
import { SETTINGS_FILE } from '../../foundation/settings/file/open-settings-file.ts';
import type { Terminal } from '../terminal.ts';
import type { InitOptions } from './init.ts';
import type { ShowOptions } from './show.ts';

const FILE_NOTES = `
Settings are environment variables, and what they do not set is looked for in a
file: the one that TRUNKLINE_CONFIG names, else ./${SETTINGS_FILE}, else
trunkline/${SETTINGS_FILE} in XDG_CONFIG_HOME or ~/.config, else
/etc/trunkline/${SETTINGS_FILE}. The first that exists is read, and no other.`;

const INIT_NOTES = `
Writes the settings that are set now, and the others as comments. Secrets are
written as the variable that has them.`;

type Done = (exitCode: number) => void;

/** Adds the commands to `program`; `done` gets the exit code. */
export function describeConfig(program: Command, terminal: Terminal, done: Done): void {
  const config = program
    .command('config')
    .description('the settings in use, and trunkline.yaml')
    .addHelpText('after', FILE_NOTES);
  config
    .command('show', { isDefault: true })
    .description('list the everyday settings: value, default, unit and meaning; secrets stay hidden')
    .option('--all', 'list all settings')
    .option('--json', 'print all settings as JSON')
    .action(async ({ all = false, json = false }: Partial<ShowOptions>) => {
      const { showConfig } = await import('./show.ts');
      done(showConfig(loadSettings({ users: 'unknown' }), { all, json }, terminal));
    });
  config
    .command('init')
    .description('write a file with the settings that are set now')
    .argument('[file]', 'where; - is standard output', SETTINGS_FILE)
    .option('--all', 'describe all settings, not the everyday ones alone')
    .option('--force', 'in place of a file that is there')
    .addHelpText('after', INIT_NOTES)
    .action(async (file: string, { all = false, force = false }: Partial<InitOptions>) => {
      const { initConfig } = await import('./init.ts');
      done(await initConfig(file, { all, force }, terminal));
    });
  config
    .command('check')
    .description('say what is wrong with the settings, with line and column; 78 = something is')
    .argument('[file]', 'this file, in place of the one that would be read')
    .action(async (file?: string) => {
      const { checkConfig } = await import('./check.ts');
      const options = { users: 'unknown' } as const;
      done(checkConfig(file === undefined ? loadSettings(options) : loadSettingsWith(file, options), terminal));
    });
  config
    .command('explain')
    .description('what a setting does, its value, and where that comes from')
    .argument('<name>', 'as a variable or as in the file: SIP_PORT, sip.port')
    .action(async (name: string) => {
      const { explainSetting } = await import('./explain.ts');
      done(explainSetting(name, () => loadSettings({ users: 'unknown' }), terminal));
    });
}
