/**
 * The command line: what there is, what it takes, and what its exit codes mean. Each command's code is loaded when it
 * is run.
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { packagePath } from '../foundation/folders/paths.ts';
import { ConfigError, EXIT_CONFIG, readSettings } from '../foundation/settings/config.ts';
import { hideCredentials } from '../foundation/urls.ts';
import {
  addParameter,
  parseKeyPresses,
  parseMediaUrl,
  parseMs,
  parseShare,
  parseWebUrl,
  parseWhole,
} from './arguments.ts';
import { CALL_CARRIERS, type CarrierName, complaintAbout } from './call/carriers.ts';
import type { CallCommand } from './call.ts';
import type { ConfigOptions } from './config.ts';
import type { DemoOptions } from './demo.ts';
import { EXIT_FAILED, EXIT_OK, EXIT_USAGE } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';
import type { TranscribeOptions } from './transcribe.ts';
import { FILE_FORMATS } from './transcribe-formats.ts';

const EXIT_CODES = `

Exit codes:
  0   it went well
  1   something that was asked for failed
  2   the command line is wrong
  78  the settings are wrong; standard error says which, and what is allowed`;

const EXAMPLES = `
Examples:
  $ trunkline demo                      a simulated call, captioned as it goes on
  $ PORT=9000 trunkline serve           settings are environment variables
  $ trunkline call caller.wav           a call with your recording
  $ trunkline transcribe *.wav --json   one JSON object a line for each file`;

const CALL_NOTES = `
A WAV file of any rate becomes what the carrier sends:
  twilio       8 kHz µ-law, 20 ms a message. With --both the stream is
               unidirectional with both tracks. TWILIO_AUTH_TOKEN, if set, signs
               the requests, over PUBLIC_URL where there is one. A bridge that
               wants its call token gets it with --voice.
  asterisk     chan_websocket: 16 kHz linear, binary; parameters as channel
               variables (__TRUNKLINE_…); ASTERISK_USER and ASTERISK_PASSWORD,
               if set.
  audiosocket  8 kHz linear to AUDIOSOCKET_PORT, announced before at
               http://127.0.0.1:$PORT/asterisk/calls.
  sip          a phone that calls SIP_PORT over UDP and speaks RTP, 8 kHz µ-law,
               20 ms a packet; parameters as headers (X-Trunkline-…); it answers
               a challenge with SIP_PASSWORD, if set.

Examples:
  $ trunkline call caller.wav --jitter-ms 80 --loss 0.02 --reorder 0.01
  $ trunkline call caller.wav --dtmf 5@1200,#@3000 --drop-after-ms 8000
  $ trunkline call caller.wav --carrier asterisk --param bargeIn=off
  $ trunkline call caller.wav --carrier sip --url sip:bridge@127.0.0.1:5060
  $ trunkline call caller.wav --voice http://127.0.0.1:8080/twilio/voice

Exits with 1 when the bridge ends the call before the caller does, or says that
it could not reach its app (asked with the first of API_KEYS, if set), 130
after Ctrl-C.`;

const TRANSCRIBE_NOTES = `
Speech engines of its own transcribe the files, on ENGINE_WORKERS cores; no
server need run. What is a recording is told by its content, not by its name.

Without --out each transcript is printed. JSON is one object a line:
  {"file":"a.wav","durationMs":2681,
   "captions":[{"text":"…","startMs":420,"endMs":2380}]}
A file that fails has "error" instead, and the others go on. With
--channels split each caption names its "channel".

With --out each transcript becomes a file: that of calls/monday/a.wav, found in
calls, is DIR/monday/a.wav.txt. What is there already is left alone unless its
recording, --format or --channels has changed, so the same command goes on after
Ctrl-C or a power cut; no half-written file is ever left. DIR/.trunkline keeps
account of that. --json then reports on each file and, last, on all:
  {"file":"calls/a.wav","state":"done","output":"/…/DIR/a.wav.txt",
   "durationMs":2681}
  {"summary":{"done":1,"failed":0,"skipped":0,"audioMs":2681,"elapsedMs":1210,
   "timesRealTime":2.2}}

Exits with 0 when every recording has its transcript, 1 when one has not, 130
after Ctrl-C.

Examples:
  $ trunkline transcribe voicemail.wav
  $ trunkline transcribe call.wav --channels split --format vtt > call.vtt
  $ trunkline transcribe calls/ interview.m4a --out texts --format srt`;

const DOCTOR_NOTES = `
With --capacity a gateway of its own, on loopback and with the engine settings of
the environment, gets more and more simulated calls of 10 s until finals come
more than 300 ms late, go missing, or calls are refused. Stop what else runs
first, a Trunkline that serves included. Nothing is left behind.

Exits with 1 when one check fails or the machine holds no calls, 130 after
Ctrl-C.`;

/** Runs the command in `args` (without node and script) and returns the exit code; `serve` goes on after that. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = EXIT_OK;
  const program = describeProgram(terminal, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    return explain(error, terminal);
  }
}

function explain(error: unknown, { err }: Terminal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
  if (error instanceof ConfigError) {
    err.line('trunkline: these settings cannot be used:');
    for (const problem of error.problems) err.line(`  ${problem}`);
    err.line('docs/reference/settings.md describes every setting.');
    return EXIT_CONFIG;
  }
  err.line(`trunkline: ${hideCredentials(error instanceof Error ? error.message : String(error))}`);
  return EXIT_FAILED;
}

type Done = (exitCode: number) => void;

function describeProgram(terminal: Terminal, done: Done): Command {
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
  const program = new Command('trunkline')
    .description(
      'Telephony media-stream bridge: live captions of phone calls, and answers spoken to callers, on your ' +
        'own machine.',
    )
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out.raw(text), writeErr: (text) => terminal.err.raw(text) })
    .showHelpAfterError('Add --help to see what is possible.')
    .addHelpText('after', EXAMPLES + EXIT_CODES);
  describeServe(program, done);
  describeDemo(program, terminal, done);
  describeCall(program, terminal, done);
  describeTranscribe(program, terminal, done);
  describeConfig(program, terminal, done);
  describeDoctor(program, terminal, done);
  return program;
}

function describeServe(program: Command, done: Done): void {
  program
    .command('serve')
    .description('take calls and serve their captions until SIGTERM or Ctrl-C, then drain')
    .addHelpText(
      'after',
      '\nLogs on a terminal are for people, elsewhere JSON lines (LOG_FORMAT); the one with ' +
        '"msg":"listening" has the url.',
    )
    .action(async () => {
      const settings = readSettings();
      const { serve } = await import('../serve.ts');
      await serve(settings);
      done(EXIT_OK);
    });
}

function describeDemo(program: Command, terminal: Terminal, done: Done): void {
  program
    .command('demo')
    .description('show it working: a simulated call between two people, captioned live; no phone, no account')
    .addOption(new Option('--fast', 'faster than real time').conflicts('talk'))
    .option('--talk', 'a caller who talks with the echo app instead, and cuts in')
    .option('--keep', 'serve on after the call')
    .action(async (options: Partial<DemoOptions>) => {
      const settings = readSettings(undefined, { opensPorts: false });
      const { demo } = await import('./demo.ts');
      done(await demo({ fast: false, talk: false, keep: false, ...options }, settings, terminal));
    });
}

function describeCall(program: Command, terminal: Terminal, done: Done): void {
  program
    .command('call')
    .description('place a simulated call with a running bridge, as the carrier of your choice')
    .argument('<wav>', 'what the caller says')
    .addOption(
      new Option('--carrier <carrier>', 'who places it')
        .choices(Object.keys(CALL_CARRIERS))
        .default('twilio' satisfies CarrierName),
    )
    .option('--plain-text', "Asterisk's control messages as its older releases have them")
    .option('--both <wav>', 'what the caller hears: sends both tracks')
    .option('--url <url>', "the bridge's media door (default: the carrier's own on this machine)", parseMediaUrl)
    .option('--voice <url>', 'ask this voice webhook first, and do as its TwiML says', parseWebUrl)
    .option('--fast', 'as fast as the bridge reads instead of in real time')
    .option('--jitter-ms <ms>', 'let messages be up to this late', parseMs, 0)
    .option('--loss <share>', 'lose this share of the media, 0 to 1', parseShare, 0)
    .option('--reorder <share>', 'swap this share of the media with its successor, 0 to 1', parseShare, 0)
    .option('--seed <number>', 'the same faults for the same number', parseWhole, 1)
    .option('--dtmf <keys>', 'press keys at these ms, as in 5@1200,#@3000', parseKeyPresses)
    .option('--drop-after-ms <ms>', 'vanish without a word at this time', parseMs)
    .option('--from <number>', 'who calls', '+15550100')
    .option('--to <number>', 'who is called', '+15550199')
    .option('--param <name=value>', 'a custom parameter; may be repeated', addParameter)
    .option('--json', 'print the report as JSON')
    .addHelpText('after', CALL_NOTES)
    .action(
      async (
        wav: string,
        options: Omit<CallCommand, 'wav' | 'param'> & Partial<Pick<CallCommand, 'param'>>,
        command: Command,
      ) => {
        const complaint = complaintAbout(
          options.carrier,
          options.url,
          (name) => command.getOptionValueSource(name) === 'cli',
        );
        if (complaint !== null) command.error(`error: ${complaint}`);
        if (options.both !== undefined && options.dtmf !== undefined)
          command.error('error: Twilio tells no DTMF on a stream of both tracks');
        const settings = readSettings(undefined, { opensPorts: false });
        const { call } = await import('./call.ts');
        done(await call({ param: {}, ...options, wav }, settings, terminal));
      },
    );
}

function describeTranscribe(program: Command, terminal: Terminal, done: Done): void {
  program
    .command('transcribe')
    .description('turn recordings into text')
    .argument('<file...>', 'recordings; with --out also folders of them')
    .option('--out <dir>', 'write a file for each into this folder')
    .addOption(new Option('--format <format>', 'how to write them').choices(FILE_FORMATS).default('text'))
    .option('--json', 'the same as --format json; with --out, report in JSON')
    .addOption(
      new Option('--channels <mode>', 'mix them, or one speaker on each').choices(['mix', 'split']).default('mix'),
    )
    .addHelpText('after', TRANSCRIBE_NOTES)
    .action(
      async (files: string[], options: TranscribeOptions & { json?: boolean; out?: string }, command: Command) => {
        if (options.out !== undefined) {
          const settings = readSettings(undefined, { opensPorts: false });
          const { transcribeInto } = await import('./transcribe-folder.ts');
          done(
            await transcribeInto(
              files,
              { ...options, out: options.out, json: options.json === true },
              settings,
              terminal,
            ),
          );
          return;
        }
        const format = options.json === true ? 'json' : options.format;
        if (files.length > 1 && format !== 'json' && format !== 'text')
          command.error(`error: ${format} is for one file at a time`);
        const settings = readSettings(undefined, { opensPorts: false });
        const { transcribe } = await import('./transcribe.ts');
        done(await transcribe(files, { ...options, format }, settings, terminal));
      },
    );
}

function describeConfig(program: Command, terminal: Terminal, done: Done): void {
  program
    .command('config')
    .description('list the everyday settings: value, default, unit and meaning; secrets stay hidden')
    .option('--all', 'list the tuning settings too')
    .option('--json', 'print all settings as JSON')
    .action(async ({ all = false, json = false }: Partial<ConfigOptions>) => {
      const settings = readSettings();
      const { showConfig } = await import('./config.ts');
      done(showConfig(settings, { all, json }, terminal));
    });
}

function describeDoctor(program: Command, terminal: Terminal, done: Done): void {
  program
    .command('doctor')
    .description('check Node.js, settings, cores, ports, onnxruntime, CUDA, models and ffmpeg')
    .option('--json', 'as JSON')
    .option(
      '--capacity',
      'also measure how many calls this machine holds: takes a minute or two, and much of the machine',
    )
    .addHelpText('after', DOCTOR_NOTES)
    .action(async ({ json = false, capacity = false }: { json?: boolean; capacity?: boolean }) => {
      const { doctor } = await import('./doctor.ts');
      done(await doctor({ json, capacity }, terminal));
    });
}
