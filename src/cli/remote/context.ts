/** What every command to a running server has. */
import type { ServerClient } from '../server-client.ts';
import type { Terminal } from '../terminal.ts';

/** The server, and how its answers are printed. */
export interface RemoteContext {
  readonly server: ServerClient;
  readonly json: boolean;
  readonly terminal: Terminal;
}
