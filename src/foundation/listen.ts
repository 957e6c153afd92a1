/** Listening on ports, and what a person can do when it fails. */
import type { Log } from './log/log.ts';
import { ConfigError } from './settings/config.ts';

/** The server cannot listen where HOST and a port setting say; `message` says why and what helps. */
export class ListenError extends Error {}

/** Where to listen, and the setting that the port comes from. */
export interface ListenAt {
  readonly host: string;
  readonly port: number;
  readonly setting: 'PORT' | 'AUDIOSOCKET_PORT' | 'SIP_PORT' | 'SIP_TLS_PORT';
}

/** A server of a trunk: `listen` returns its address. */
interface Listener {
  listen(host: string, port: number): Promise<string> | string;
}

/** Has a trunk listen, and logs where. @throws ListenError */
export async function listenFor(what: string, listener: Listener, at: ListenAt, log: Log): Promise<void> {
  const address = await listenAt(at, () => listener.listen(at.host, at.port));
  log.info({ address }, `listening for ${what}`);
}

/** What `listen` returns. @throws ListenError */
export async function listenAt<T>(at: ListenAt, listen: () => Promise<T> | T): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ListenError(explainListen(error, at), { cause: error });
  }
}

function explainListen(error: unknown, { host, port, setting }: ListenAt): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE': {
      const anyPort = setting === 'PORT' ? ' (0 = any free one)' : '';
      return `port ${port} of ${host} is in use: stop the program that listens there, or change ${setting}${anyPort}`;
    }
    case 'EACCES':
      return `this user may not open port ${port}: set ${setting} to 1024 or more`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST=${host} is not an address of this machine`;
    default:
      return `cannot listen on ${host}, port ${port}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
