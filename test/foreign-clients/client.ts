/**
 * What `npm run clients` runs unchanged. Each row is one version of one package, run by one program of this folder,
 * which prints one JSON line of what it saw; `goldens/<name>.json` says what that must be.
 */

/** One version of a client. */
export interface Client {
  /** Names its golden. */
  readonly name: string;
  /** As it says in the table: package and version. */
  readonly title: string;
  /** A file of this folder: `.mjs` is run by Node, `.py` by Python, `.go` is built by Go. */
  readonly program: string;
  /**
   * What is installed: one npm package with its version, which the program imports by the name in `CLIENT`, or packages
   * as pip has them, or one Go module.
   */
  readonly install: readonly [string, ...string[]];
  /** What Python it needs, such as `python3.12`; left out = `python3`. */
  readonly python?: string;
  /** The page of the table, and what the program does. */
  readonly door: string;
  readonly shows: string;
  /** Of the program, beside those of every client. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A chat endpoint answers in sessions that speak. */
  readonly brain?: true;
  /** The client is given an https address, and told to believe the gateway's certificate. */
  readonly tls?: true;
}

/** As browsers have it, and Node from 22 on without asking. */
export const OWN_WEBSOCKET = { environment: { NODE_OPTIONS: '--experimental-websocket' } } as const;

/** What LiveKit's plugins for Node want beside them. */
export const LIVEKIT_NODE = ['@livekit/agents@1.9.0', '@livekit/rtc-node@0.13', 'zod@4'] as const;
