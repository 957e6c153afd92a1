/** A recogniser in a process of its own, asked over its standard input and output (see serve.mjs). */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { TELEMETRY_OFF } from '../../../engine/telemetry-off.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';

/** What peers would send by themselves, they do not. */
const NOTHING_SENT = { ...TELEMETRY_OFF, HF_HUB_DISABLE_TELEMETRY: '1' };

/** One stretch of speech as text, and what that took in the peer's process. */
export interface PeerAnswer {
  readonly text: string;
  readonly ms: number;
  /** How many tokens it said, where the peer tells. */
  readonly tokens?: number;
  /** The longest that one step held its thread, where the peer has steps. */
  readonly longestMs?: number;
  /** Processor time; more than `ms` where more than one thread was busy. */
  readonly cpuMs: number;
}

/** Resident memory of a process, in MB. NaN where the system has no /proc. */
export interface Memory {
  readonly nowMb: number;
  readonly peakMb: number;
}

/** The command line of a peer: a script of this folder runs in node, unless a program is given. */
export interface PeerCommand {
  readonly program?: string;
  readonly script: string;
  readonly parameters: readonly string[];
  /** Added to the environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A running peer. One request at a time. */
export class Peer {
  /** From the start of its process to the models being loaded. */
  readonly loadMs: number;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, loadMs: number) {
    this.#child = child;
    this.#lines = lines;
    this.loadMs = loadMs;
  }

  /** Resolves when it is loaded. @throws Error with the end of what it said when it ends before. */
  static async start({ program = process.execPath, script, parameters, environment }: PeerCommand): Promise<Peer> {
    const startedMs = performance.now();
    const path = packagePath('test', 'bench', 'peers', script);
    const child = spawn(program, [path, ...parameters], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...environment, ...NOTHING_SENT },
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said = `${said}${chunk}`.slice(-2000);
    });
    // A program that is not there: its output then ends at once, which is told of below.
    child.on('error', (error) => {
      said = error.message;
    });
    // Writing to one that has ended fails as reading from it does, which is told of there.
    child.stdin.on('error', () => undefined);
    const peer = new Peer(child, createInterface({ input: child.stdout })[Symbol.asyncIterator](), 0);
    await peer.#answer().catch((error: Error) => {
      throw new Error(`${error.message}: ${said.trim().split('\n').at(-1)}`);
    });
    return new Peer(child, peer.#lines, performance.now() - startedMs);
  }

  /** Transcribes raw 16-bit 16 kHz mono samples in a file. `request`: what else this peer is to be told. */
  async transcribe(path: string, request: Readonly<Record<string, number>> = {}): Promise<PeerAnswer> {
    this.#child.stdin?.write(`${JSON.stringify({ path, ...request })}\n`);
    return (await this.#answer()) as PeerAnswer;
  }

  memory(): Memory {
    return memoryOf(this.#child.pid ?? 0);
  }

  /** Ends it; resolves when its process is gone. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin?.end();
    await exited;
  }

  /** The next line that is JSON: libraries may say other things there too. */
  async #answer(): Promise<unknown> {
    for (;;) {
      const { done, value } = await this.#lines.next();
      if (done) throw new Error('it ended');
      if (value.startsWith('{')) return JSON.parse(value);
    }
  }
}

/** What process `pid` has resident now, and had at most. */
export function memoryOf(pid: number): Memory {
  const path = `/proc/${pid}/status`;
  const status = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const mb = (name: string) =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN) * 1024) / 1e6;
  return { nowMb: mb('VmRSS'), peakMb: mb('VmHWM') };
}
