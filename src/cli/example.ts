/** Runs one of the apps in `examples/` in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { packagePath } from '../foundation/folders/paths.ts';

/** How much of an example's error output is kept. */
const COMPLAINT_MAX_CHARS = 4000;

/** An example that takes calls. */
export interface ExampleApp {
  /** `ws://127.0.0.1:<port>` */
  readonly url: string;
  /** Ends it; resolves when its process is gone. */
  stop(): Promise<void>;
}

/**
 * Starts `examples/<name>.mjs` on a free port of this machine, with nothing in its environment but that and
 * `environment`.
 * @throws Error when it ends before it listens
 */
export async function startExample(
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ExampleApp> {
  const child = spawn(process.execPath, [packagePath('examples', `${name}.mjs`)], {
    env: { ...environment, HOST: '127.0.0.1', PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(0, COMPLAINT_MAX_CHARS);
  });
  const exited = once(child, 'close');
  const url = await Promise.race([listeningUrl(child), exited.then(() => null)]);
  if (url === null) throw new Error(`examples/${name}.mjs ended before it listened: ${complaint.trim()}`);
  return {
    url,
    async stop() {
      child.kill();
      await exited;
    },
  };
}

function listeningUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = /^listening on (ws:\S+)$/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
