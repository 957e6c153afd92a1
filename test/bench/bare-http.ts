/**
 * A recogniser that answers at once and reads nothing, in a process of its own, so that the CPU time of the one who
 * asks can be read: `tsx bare-http.ts` prints its port and ends on SIGTERM.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

const PATH = fileURLToPath(import.meta.url);

/** A running one. */
interface BareHttp {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts one. @throws Error when it ends before it listens */
export async function startBareHttp(): Promise<BareHttp> {
  const child = spawn(process.execPath, ['--import', 'tsx', PATH], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const first = await Promise.race([once(child.stdout, 'data'), exited.then(() => null)]);
  if (first === null) throw new Error('the bare server ended before it listened');
  return {
    url: `http://127.0.0.1:${String(first[0]).trim()}`,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function serve(): void {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.setHeader('content-type', 'application/json').end('{"text":"Heard."}'));
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`);
  });
}

if (argv[1] === PATH) serve();
