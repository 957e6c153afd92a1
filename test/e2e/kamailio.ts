/** Kamailio as the registrar or proxy of a test, where it is installed. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const FOLDER = join(import.meta.dirname, 'kamailio');
const TRIES = 300;
const BETWEEN_TRIES_MS = 100;

/** Whether this machine has Kamailio with its TLS module (Debian: kamailio, kamailio-tls-modules). */
export const hasKamailio = ((): boolean => {
  try {
    execFileSync('sh', ['-c', 'command -v kamailio && find /usr/lib -path "*kamailio/modules/tls.so" | grep -q .'], {
      stdio: 'ignore',
      env: { PATH: `${process.env['PATH']}:/usr/sbin` },
    });
    return true;
  } catch {
    return false;
  }
})();

interface KamailioOptions {
  /** A file beside this one. */
  readonly config: 'registrar.cfg' | 'edge.cfg';
  /** It listens there over UDP and TCP, and over TLS on `tlsPort`. */
  readonly port: number;
  readonly tlsPort?: number;
  /** Texts that the file refers to; null = it is only asked whether the name is there. */
  readonly defines: Readonly<Record<string, string | null>>;
}

/** One that runs. */
export interface Kamailio {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts one on loopback and waits until it listens. @throws Error with its output when it ends before. */
export async function startKamailio({ config, port, tlsPort, defines }: KamailioOptions): Promise<Kamailio> {
  const folder = await mkdtemp(join(tmpdir(), 'kamailio-'));
  const listen = [`udp:127.0.0.1:${port}`, `tcp:127.0.0.1:${port}`];
  if (tlsPort !== undefined) listen.push(`tls:127.0.0.1:${tlsPort}`);
  const words = Object.entries(defines).map(([name, text]) => (text === null ? name : `${name}="${text}"`));
  const child = spawn(
    'kamailio',
    [
      ...['-f', join(FOLDER, config), '-DD', '-E', '-w', folder, '-Y', folder, '-m', '32', '-M', '4'],
      ...listen.flatMap((each) => ['-l', each]),
      ...words.flatMap((each) => ['-A', each]),
    ],
    { env: { PATH: `${process.env['PATH']}:/usr/sbin` }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const output: Buffer[] = [];
  child.stderr?.on('data', (bytes: Buffer) => output.push(bytes));
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await untilOpen(child, port, () => Buffer.concat(output).toString());
  return {
    port,
    stop: async () => {
      child.kill();
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilOpen(child: ChildProcess, port: number, output: () => string): Promise<void> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    if (child.exitCode !== null) throw new Error(`Kamailio ended with ${child.exitCode}: ${output()}`);
    if (await isOpen(port)) return;
    await wait(BETWEEN_TRIES_MS);
  }
  child.kill();
  throw new Error(`Kamailio does not listen on ${port}: ${output()}`);
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
