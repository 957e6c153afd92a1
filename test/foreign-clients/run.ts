/** Runs the program of a client. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import type { Client } from './client.ts';
import type { InstalledClient } from './install.ts';

/** Sent by every client; one that may be a subprotocol. */
export const KEY = 'clients-key-of-32-characters-000';
const OUTPUT_MAX_BYTES = 16_777_216;

/** What its last line has, and what it wrote as errors. */
export interface Ran {
  readonly seen: unknown;
  readonly errors: string;
}

interface RunOptions {
  readonly client: Client;
  /** Of the gateway. */
  readonly url: string;
  readonly folder: string;
  readonly installed: InstalledClient;
  /** What Node and Python are told of our certificate. */
  readonly trust: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Never rejects: what did not run has seen nothing. */
export async function runClient({ client, url, folder, installed, trust, timeoutMs }: RunOptions): Promise<Ran> {
  const { command, path, environment } = installed;
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    TRUNKLINE_URL: url,
    TRUNKLINE_KEY: KEY,
    AUDIO_DIR: packagePath('fixtures', 'audio'),
    ...environment,
    ...client.environment,
    ...trust,
  };
  return new Promise((done) => {
    const options = { env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: OUTPUT_MAX_BYTES } as const;
    execFile(command, path === '' ? [] : [path], options, (error, stdout, stderr) => {
      const line = stdout.trim().split('\n').at(-1) ?? '';
      done({ seen: readJson(line), errors: `${error === null ? '' : `${error.message}\n`}${stderr}` });
    });
  });
}

function readJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** What a client must see. */
export function goldenOf({ name }: Client): unknown {
  return readJson(readFileSync(packagePath('test', 'foreign-clients', 'goldens', `${name}.json`), 'utf8'));
}
