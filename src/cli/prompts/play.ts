/** `trunkline prompts play`. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.ts';
import type { RemoteContext } from '../remote/context.ts';
import { readPrompts, readSound } from './flow-prompts.ts';

/** Programs that play a WAV file from their standard input. */
const PLAYERS: readonly (readonly [program: string, ...args: string[]])[] = [
  ['aplay', '-q'],
  ['paplay', '/dev/stdin'],
  ['play', '-q', '-t', 'wav', '-'],
  ['ffplay', '-nodisp', '-autoexit', '-loglevel', 'error', '-'],
];

/** A prompt's place: a flow, a step of it, and what of the step. */
interface PromptPlace {
  readonly flow: string;
  readonly step: string;
  readonly part: string;
}

/** Plays a prompt, or writes it to a file. @throws ServerRefused */
export async function playPrompt(place: PromptPlace, out: string | null, context: RemoteContext): Promise<number> {
  const { server, json, terminal } = context;
  const { flow, step, part } = place;
  const found = (await readPrompts(server, { flow })).filter((prompt) => prompt.step === step && prompt.part === part);
  const [prompt] = found;
  if (prompt === undefined) {
    terminal.err.line(`no prompt is there: flow ${flow}, step ${step}, ${part}; "trunkline prompts list" has them all`);
    return EXIT_FAILED;
  }
  const wav = await readSound(server, prompt.id);
  if (out !== null) await writeFile(out, wav);
  else if (!(await playWithAny(wav))) {
    terminal.err.line('no program to play sound was found (aplay, paplay, play, ffplay); --out FILE writes a WAV file');
    return EXIT_FAILED;
  }
  if (json) terminal.out.line(JSON.stringify({ ...prompt, file: out }));
  return EXIT_OK;
}

async function playWithAny(wav: Buffer): Promise<boolean> {
  for (const [program, ...args] of PLAYERS) if (await playWith(program, args, wav)) return true;
  return false;
}

function playWith(program: string, args: readonly string[], wav: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const player = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'] });
    player.on('error', () => resolve(false));
    player.on('close', (code) => resolve(code === 0));
    player.stdin.on('error', () => undefined);
    player.stdin.end(wav);
  });
}
