/**
 * The command line: what there is, what it takes, and what its exit codes mean. Each command's code is loaded when it
 * is run.
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { RTP_FORMATS } from '../carriers/sip/wire/rtp-codecs.ts';
import { packagePath } from '../foundation/folders/paths.ts';
import { ConfigError, EXIT_CONFIG, loadSettings } from '../foundation/settings/config.ts';
import { hideCredentials } from '../foundation/urls.ts';
import {
  addParameter,
  parseHotWords,
  parseKeyPresses,
  parseMediaUrl,
  parseMs,
  parseShare,
  parseWebUrl,
  parseWhole,
} from './arguments.ts';
import { CALL_CARRIERS, type CarrierName, complaintAbout } from './call/carriers.ts';
import type { CallCommand } from './call.ts';
import { describeConfig } from './config/command.ts';
import { describeDatabase } from './db/command.ts';
import type { DemoOptions } from './demo.ts';
import type { DoctorOptions } from './doctor.ts';
import { EXIT_FAILED, EXIT_OK, EXIT_USAGE } from './exit-codes.ts';
import { describeFlows } from './flow/command.ts';
import { describeGpu } from './gpu/command.ts';
import { describeModels } from './models/command.ts';
import { describePrompts } from './prompts/command.ts';
import { describeRemote } from './remote/command.ts';
import { describeSupport } from './support/command.ts';
import type { Terminal } from './terminal.ts';
import type { TranscribeOptions } from './transcribe.ts';
import { FILE_FORMATS } from './transcribe-formats.ts';
import { describeUsers } from './users/command.ts';

const EXIT_CODES = `

Exit codes:
  0   success
  1   something failed
  2   the command line is wrong
  78  the settings are wrong; standard error says which, and what is allowed`;

const EXAMPLES = `
Examples:
  $ trunkline demo                      a simulated call with live captions
  $ PORT=9000 trunkline serve           settings are environment variables
  $ trunkline config init               or they are in trunkline.yaml
  $ trunkline call caller.wav           a simulated call with your recording
  $ trunkline transcribe *.wav --json   one JSON object a line for each file`;

const CALL_NOTES = `
A WAV file of any rate is converted to what the carrier sends:
  twilio       8 kHz µ-law, 20 ms a message. With --both the stream is
               unidirectional with both tracks. TWILIO_AUTH_TOKEN, if set, signs
               the requests, with PUBLIC_URL if that is set. If the server
               requires its call token, use --voice.
  asterisk     chan_websocket: 16 kHz linear, binary; parameters as channel
               variables (__TRUNKLINE_…); ASTERISK_USER and ASTERISK_PASSWORD,
               if set.
  audiosocket  8 kHz linear to AUDIOSOCKET_PORT, first announced at
               http://127.0.0.1:$PORT/asterisk/calls.
  sip          a phone that calls SIP_PORT over UDP and speaks RTP, 8 kHz µ-law,
               20 ms a packet; parameters as headers (X-Trunkline-…); it answers
               a challenge with SIP_PASSWORD, if set. Over TLS with --url sips:…
               or ;transport=tls, or if the server has only SIP_TLS_PORT: with
               SRTP, SIP_TLS_CA says whose certificates count.

Examples:
  $ trunkline call caller.wav --jitter-ms 80 --loss 0.02 --reorder 0.01
  $ trunkline call caller.wav --dtmf 5@1200,#@3000 --drop-after-ms 8000
  $ trunkline call caller.wav --carrier asterisk --param bargeIn=off
  $ trunkline call caller.wav --carrier sip --url sip:bridge@127.0.0.1:5060
  $ trunkline call caller.wav --carrier sip --url sips:bridge@127.0.0.1
  $ trunkline call caller.wav --voice http://127.0.0.1:8080/twilio/voice

Exits with 1 when the server ends the call before the caller does, or could not
reach its app (the command asks it with the first of API_KEYS), 130 after Ctrl-C.`;

const TRANSCRIBE_NOTES = `
The command starts its own speech engines, on ENGINE_WORKERS cores; no server is
needed. It recognises recordings by their content, not by their names.

Without --out each transcript is printed. JSON is one object a line:
  {"file":"a.wav","durationMs":2681,
   "captions":[{"text":"…","startMs":420,"endMs":2380}]}
A file that fails has "error" instead, and the others go on. With
--channels split each caption names its "channel".

With --out each transcript is written to a file: calls/monday/a.wav, found in
calls, becomes DIR/monday/a.wav.txt. A transcript that exists already is kept
unless its recording or an option has changed, so the same command
continues after Ctrl-C or a power cut. Files are never half-written.
DIR/.trunkline keeps the state. --json then reports each file and, last, a
summary:
  {"file":"calls/a.wav","state":"done","output":"/…/DIR/a.wav.txt",
   "durationMs":2681}
  {"summary":{"done":1,"failed":0,"skipped":0,"audioMs":2681,"elapsedMs":1210,
   "timesRealTime":2.2}}

Exits with 0 when every recording has its transcript, 1 when one is missing, 130
after Ctrl-C.

Examples:
  $ trunkline transcribe voicemail.wav
  $ trunkline transcribe call.wav --channels split --format vtt > call.vtt
  $ trunkline transcribe calls/ interview.m4a --out texts --format srt`;

const DOCTOR_NOTES = `
With --capacity the command starts its own server on loopback, with the engine
settings of the environment. It places more and more simulated calls of 10 s until
final captions are more than 300 ms late or missing, or calls are refused. Stop
other programs first, also a running Trunkline. No files are left behind.

Exits with 1 when a check fails or the machine cannot hold a call, 130 after
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
    .description('Live captions of phone calls, and answers spoken to callers, on your own machine.')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out.raw(text), writeErr: (text) => terminal.err.raw(text) })
    .showHelpAfterError('Add --help for usage.')
    .addHelpText('after', EXAMPLES + EXIT_CODES);
  describeServe(program, done);
  describeDemo(program, terminal, done);
  describeCall(program, terminal, done);
  describeTranscribe(program, terminal, done);
  describeConfig(program, terminal, done);
  describeModels(program, terminal, done);
  describeFlows(program, terminal, done);
  describeDatabase(program, terminal, done);
  describeUsers(program, terminal, done);
  describeRemote(program, terminal, done);
  describePrompts(program, terminal, done);
  describeGpu(program, terminal, done);
  describeDoctor(program, terminal, done);
  describeSupport(program, terminal, done);
  return program;
}

function describeServe(program: Command, done: Done): void {
  program
    .command('serve')
    .description('accept calls and serve their captions until SIGTERM or Ctrl-C, then drain')
    .addHelpText(
      'after',
      '\nOn a terminal the log is text, elsewhere JSON lines (LOG_FORMAT); the line with "msg":"listening" ' +
        'has the url.',
    )
    .action(async () => {
      const settings = loadSettings({ users: 'unknown' });
      const { serve } = await import('../gateway/serve.ts');
      await serve(settings);
      done(EXIT_OK);
    });
}

function describeDemo(program: Command, terminal: Terminal, done: Done): void {
  program
    .command('demo')
    .description('show a simulated call between two people, captioned live; it needs no phone and no account')
    .addOption(new Option('--fast', 'faster than real time').conflicts('talk'))
    .option('--talk', 'instead, a caller who talks with the echo app and interrupts it')
    .option('--keep', 'keep serving after the call')
    .action(async (options: Partial<DemoOptions>) => {
      const settings = loadSettings({ opensPorts: false });
      const { demo } = await import('./demo.ts');
      done(await demo({ fast: false, talk: false, keep: false, ...options }, settings, terminal));
    });
}

function describeCall(program: Command, terminal: Terminal, done: Done): void {
  program
    .command('call')
    .description('place a simulated call with a running server, as one of the carriers')
    .argument('<wav>', 'what the caller says (WAV file)')
    .addOption(
      new Option('--carrier <carrier>', 'carrier that places the call')
        .choices(Object.keys(CALL_CARRIERS))
        .default('twilio' satisfies CarrierName),
    )
    .option('--plain-text', "send Asterisk's control messages as its older releases do")
    .addOption(new Option('--codec <codec>', 'codec of a SIP call (default: mulaw)').choices(Object.keys(RTP_FORMATS)))
    .option('--srtp', 'encrypt the sound of a SIP call (default: over TLS, or with SIP_SRTP=require)')
    .option('--no-srtp', 'do not encrypt it')
    .option('--both <wav>', 'what the caller hears (WAV file): sends both tracks')
    .option('--url <url>', "the server's media endpoint (default: that of the carrier on this machine)", parseMediaUrl)
    .option('--voice <url>', 'request this voice webhook first, and follow its TwiML', parseWebUrl)
    .option('--fast', 'send as fast as the server reads, not in real time')
    .option('--jitter-ms <ms>', 'delay messages by up to this', parseMs, 0)
    .option('--loss <share>', 'drop this share of the media, 0 to 1', parseShare, 0)
    .option('--reorder <share>', 'swap this share of the media with the next piece, 0 to 1', parseShare, 0)
    .option('--seed <number>', 'the same number gives the same faults', parseWhole, 1)
    .option('--dtmf <keys>', 'press keys at these ms, as in 5@1200,#@3000', parseKeyPresses)
    .option('--drop-after-ms <ms>', 'disconnect without a goodbye at this time', parseMs)
    .option('--from <number>', 'number of the caller', '+15550100')
    .option('--to <number>', 'number that is called', '+15550199')
    .option('--param <name=value>', 'custom parameter; may be repeated', addParameter)
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
          command.error('error: Twilio sends no DTMF on a stream of both tracks');
        const settings = loadSettings({ opensPorts: false });
        const { call } = await import('./call.ts');
        done(await call({ param: {}, ...options, wav }, settings, terminal));
      },
    );
}

function describeTranscribe(program: Command, terminal: Terminal, done: Done): void {
  program
    .command('transcribe')
    .description('turn recordings into text')
    .argument('<file...>', 'recordings; with --out also folders')
    .option('--out <dir>', 'write one file for each recording into this folder')
    .addOption(new Option('--format <format>', 'format of the transcripts').choices(FILE_FORMATS).default('text'))
    .option('--json', 'same as --format json; with --out, report in JSON')
    .addOption(
      new Option('--channels <mode>', 'mix the channels, or transcribe each as one speaker')
        .choices(['mix', 'split'])
        .default('mix'),
    )
    .option('--language <language>', 'what is spoken: de, pt-BR, German, auto; default: DEFAULT_LANGUAGE')
    .addOption(
      new Option('--hot-words <list>', 'names that are likely to be said, with commas').argParser(parseHotWords),
    )
    .addHelpText('after', TRANSCRIBE_NOTES)
    .action(
      async (files: string[], options: TranscribeOptions & { json?: boolean; out?: string }, command: Command) => {
        if (options.out !== undefined) {
          const settings = loadSettings({ opensPorts: false });
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
          command.error(`error: ${format} takes only one file`);
        const settings = loadSettings({ opensPorts: false });
        const { transcribe } = await import('./transcribe.ts');
        done(await transcribe(files, { ...options, format }, settings, terminal));
      },
    );
}

function describeDoctor(program: Command, terminal: Terminal, done: Done): void {
  program
    .command('doctor')
    .description('check Node.js, settings, cores, ports, onnxruntime, CUDA, models and ffmpeg')
    .option('--json', 'as JSON')
    .option(
      '--capacity',
      'also measure how many calls this machine can hold; it takes a minute or two and most of the CPU',
    )
    .option('--hashes', 'also read every file of installed models and compare its SHA-256')
    .addHelpText('after', DOCTOR_NOTES)
    .action(async ({ json = false, capacity = false, hashes = false }: Partial<DoctorOptions>) => {
      const { doctor } = await import('./doctor.ts');
      done(await doctor({ json, capacity, hashes }, terminal));
    });
}
