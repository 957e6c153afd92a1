/** The `trunkline prompts` commands: what they take. Their code is loaded when one is run. */
import type { Command } from 'commander';
import { loadSettings } from '../../foundation/settings/config.ts';
import { parseWebUrl } from '../arguments.ts';
import type { RemoteContext } from '../remote/context.ts';
import { type ServerFlags, serverOf } from '../server-client.ts';
import type { Terminal } from '../terminal.ts';
import type { PromptFilter } from './flow-prompts.ts';

const SERVER_NOTES = `
The server is that of --url or TRUNKLINE_URL, otherwise the one at PORT on this
machine. It is asked with --key, TRUNKLINE_KEY or the first of API_KEYS.`;

const EXPORT_NOTES = `
Writes a WAV file for each prompt, as callers hear it now, and script.csv: what a
voice actor reads, with the name under which the flow plays the recording. A flow
plays a recording where a prompt says so: {text: Hello., recording: hello}.
${SERVER_NOTES}`;

const IMPORT_NOTES = `
Takes WAV, MP3, FLAC and Ogg files: FOLDER/<language>/<name>.wav, or with
--language files right in FOLDER. The server trims silence, makes them as loud as
its voices, and keeps them in FLOWS_DIR/prompts.
${SERVER_NOTES}

Exits with 1 when a file cannot be used.`;

type Done = (exitCode: number) => void;
type Flags = ServerFlags & { readonly json?: boolean };

/** Adds the commands to `program`; `done` gets the exit code. */
export function describePrompts(program: Command, terminal: Terminal, done: Done): void {
  const prompts = program.command('prompts').description('what flows say: list, make ahead, listen, record');
  const context = ({ json = false, ...flags }: Flags): RemoteContext => {
    const settings = loadSettings({ opensPorts: false });
    return { server: serverOf(flags, settings), json, terminal };
  };
  const list = prompts.command('list').description('all that flows say, and which recordings there are');
  withServer(withFilter(list), SERVER_NOTES).action(async (flags: Flags & PromptFilter) => {
    const { listPrompts } = await import('./list.ts');
    done(await listPrompts(flags, context(flags)));
  });
  const render = prompts.command('render').description('make what is missing of what flows say, before a call');
  withServer(render, SERVER_NOTES).action(async (flags: Flags) => {
    const { renderPrompts } = await import('./render.ts');
    done(await renderPrompts(context(flags)));
  });
  const play = prompts
    .command('play')
    .description('listen to a prompt, as callers hear it')
    .argument('<flow>', 'its flow')
    .argument('<step>', 'its step')
    .argument('[part]', 'what of the step, such as "noMatch 1"', 'prompt')
    .option('--out <file>', 'write this WAV file in place of playing it');
  withServer(play, SERVER_NOTES).action(
    async (flow: string, step: string, part: string, flags: Flags & { out?: string }) => {
      const { playPrompt } = await import('./play.ts');
      done(await playPrompt({ flow, step, part }, flags.out ?? null, context(flags)));
    },
  );
  describeFiles(prompts, context, done);
}

function describeFiles(prompts: Command, context: (flags: Flags) => RemoteContext, done: Done): void {
  const exported = prompts
    .command('export')
    .description('write all prompts as WAV files, with a script for a voice actor')
    .argument('<folder>', 'where to');
  withServer(withFilter(exported), EXPORT_NOTES).action(async (folder: string, flags: Flags & PromptFilter) => {
    const { exportPrompts } = await import('./export.ts');
    done(await exportPrompts(folder, flags, context(flags)));
  });
  const imported = prompts
    .command('import')
    .description('put recordings into FLOWS_DIR/prompts')
    .argument('<folder>', 'where they are')
    .option('--language <language>', 'of the files right in the folder');
  withServer(imported, IMPORT_NOTES).action(async (folder: string, flags: Flags & { language?: string }) => {
    const { importRecordings } = await import('./import.ts');
    done(await importRecordings(folder, flags.language ?? null, context(flags)));
  });
}

function withFilter(command: Command): Command {
  return command.option('--flow <name>', 'only of this flow').option('--language <language>', 'only in this language');
}

function withServer(command: Command, notes: string): Command {
  return command
    .option('--url <url>', 'a running server (default: TRUNKLINE_URL)', parseWebUrl)
    .option('--key <key>', 'one of its keys (default: TRUNKLINE_KEY)')
    .option('--json', 'as JSON')
    .addHelpText('after', notes);
}
