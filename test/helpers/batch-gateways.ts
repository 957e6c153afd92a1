/** Gateways that share batches and are killed while they work. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Batch } from '../../src/jobs/batch.ts';

/** A gateway in a process of its own. */
export interface KillableGateway {
  readonly process: ChildProcess;
  /** What it read out of recordings so far, a text each. */
  done(): string[];
  /** Ends it at once, as a power cut does. */
  kill(): Promise<void>;
}

interface GatewayOptions {
  readonly url: string;
  readonly folder: string;
  readonly name: string;
  readonly workMs: number;
}

/** Resolves when it works. */
export async function startBatchGateway({ url, folder, name, workMs }: GatewayOptions): Promise<KillableGateway> {
  const child = spawn(process.execPath, ['--import', 'tsx', join('test', 'helpers', 'batch-gateway.ts')], {
    env: { ...process.env, URL: url, FOLDER: folder, NAME: name, WORK_MS: String(workMs) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const log = join(folder, `${name}.done`);
  return {
    process: child,
    done: () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Serves recordings: the one at `/5` says `5`. */
export async function serveRecordings(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => response.end(request.url?.slice(1))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** A batch of `count` recordings that are served at `url`. */
export function batchOf(count: number, url: string): Batch {
  return {
    id: 'b',
    tenant: 't',
    createdMs: 0,
    channels: 'mix',
    targetLanguage: '',
    idempotency: null,
    webhook: null,
    state: 'running',
    endedMs: null,
    files: Array.from({ length: count }, (_, number) => ({
      number,
      name: String(number),
      source: { kind: 'url', location: `${url}/${number}` },
      state: 'waiting',
      durationMs: null,
      error: null,
    })),
  };
}
