/**
 * The least that a gateway on `ws` can cost: takes the messages of any number of calls and does nothing with them. In a
 * process of its own, so that its CPU time can be read as the gateway's is: `tsx bare-server.ts` prints its port and
 * ends on SIGTERM.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { CONSTANTS } from '../../src/foundation/settings/constants.ts';

const PATH = fileURLToPath(import.meta.url);

/** A running bare server. */
interface BareServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts one. @throws Error when it ends before it listens. */
export async function startBareServer(): Promise<BareServer> {
  const child = spawn(process.execPath, ['--import', 'tsx', PATH], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const port = await Promise.race([firstOutput(child), exited.then(() => null)]);
  if (port === null || child.pid === undefined) throw new Error('the bare server ended before it listened');
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function firstOutput({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the bare server has no output');
  const [data] = (await once(stdout, 'data')) as [Buffer];
  return data.toString().trim();
}

/** With the options that the gateway gives its own server. */
function serve(): void {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    maxPayload: CONSTANTS.MESSAGE_MAX_BYTES,
    perMessageDeflate: false,
  });
  server.on('connection', (socket) => socket.on('message', () => undefined));
  server.on('listening', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`);
  });
}

if (argv[1] === PATH) serve();
