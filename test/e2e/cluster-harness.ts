/**
 * Several gateways as processes on one PostgreSQL server, behind nginx, as an operator runs them. Calls are simulated;
 * the recogniser is the one that hears a tone as its word.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallView } from '../../src/calls/call-view.ts';
import type { CaptionEvent, FeedEvent } from '../../src/calls/feed/events.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { type CallReport, placeCall } from '../../src/simulator/twilio-caller.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { freePort } from '../helpers/ports.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { toneSpeech } from '../helpers/tones.ts';

const NGINX = '/usr/sbin/nginx';

/** For the name of a test: '' where PostgreSQL and nginx are installed, else that the test is not run. */
export const whyNoCluster =
  whyNoPostgres === '' && !existsSync(NGINX) ? ' (not run: nginx is not installed)' : whyNoPostgres;

/** The pretend models, and one engine for each gateway. */
const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', ENGINE_WORKERS: '1' };
const CLUSTER_KEY = 'cluster-key-of-the-end-to-end-tests';
/** Addresses that nginx knows; gateways take them one after the other. */
const PLACES = 6;

/** A running gateway of the cluster. */
export interface ClusterGateway extends GatewayProcess {
  /** From 1, in the order in which they were started. */
  readonly number: number;
}

/** What {@link startCluster} makes. */
export interface TestCluster {
  readonly postgres: TestPostgres;
  readonly databaseUrl: string;
  readonly clusterKey: string;
  /** `http://127.0.0.1:<port>`: nginx, which asks one gateway after the other. */
  readonly url: string;
  /** All that were started, also those that were stopped since. */
  readonly gateways: readonly ClusterGateway[];
  /** Starts one more, at most six in all. @throws Error when it ends before it listens */
  add(environment?: Readonly<Record<string, string>>): Promise<ClusterGateway>;
  /** Kills what runs, and removes its files. */
  remove(): Promise<void>;
}

/** Starts `count` gateways at once on an empty database. @throws Error when a part of it does not start */
export async function startCluster(
  count: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  const postgres = await startPostgres();
  const databaseUrl = await postgres.createDatabase();
  const ports: number[] = [];
  while (ports.length < PLACES) ports.push(await freePort());
  const gateways: ClusterGateway[] = [];
  let added = 0;
  const add = async (more: Readonly<Record<string, string>> = {}): Promise<ClusterGateway> => {
    const number = ++added;
    const port = ports[number - 1];
    if (port === undefined) throw new Error(`nginx knows ${PLACES} gateways, expected no more`);
    const place = { PORT: String(port), GATEWAY_URL: `http://127.0.0.1:${port}` };
    const shared = { DATABASE_URL: databaseUrl, CLUSTER_KEY, DATA_DIR: join(folder, `gateway-${number}`) };
    const gateway = await startGateway({ ...PRETEND, ...shared, ...place, ...environment, ...more });
    const member = { ...gateway, number };
    gateways.push(member);
    return member;
  };
  const proxyPort = await freePort();
  const proxy = await startNginx(folder, proxyPort, ports);
  const remove = async (): Promise<void> => {
    await Promise.all(gateways.map((gateway) => gateway.stop('SIGKILL')));
    proxy.kill('SIGKILL');
    await postgres.remove();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(Array.from({ length: count }, () => add()));
  } catch (error) {
    await remove();
    throw error;
  }
  gateways.sort((a, b) => a.number - b.number);
  const url = `http://127.0.0.1:${proxyPort}`;
  return { postgres, databaseUrl, clusterKey: CLUSTER_KEY, url, gateways, add, remove };
}

/** As https://nginx.org/en/docs/http/websocket.html has it. One process: nothing is left when it is killed. */
function proxyConfig(folder: string, port: number, gatewayPorts: readonly number[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log warn;
    events { worker_connections 1024; }
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
      map $http_upgrade $connection_upgrade { default upgrade; '' close; }
      upstream gateways {
        ${gatewayPorts.map((to) => `server 127.0.0.1:${to} max_fails=1 fail_timeout=1s;`).join(' ')}
      }
      server {
        listen 127.0.0.1:${port};
        client_max_body_size 100m;
        location / {
          proxy_pass http://gateways;
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection $connection_upgrade;
          proxy_buffering off;
          proxy_read_timeout 1h;
          proxy_next_upstream error timeout http_503 non_idempotent;
        }
      }
    }`;
}

async function startNginx(folder: string, port: number, gatewayPorts: readonly number[]): Promise<ChildProcess> {
  const path = join(folder, 'nginx.conf');
  writeFileSync(path, proxyConfig(folder, port, gatewayPorts));
  const proxy = spawn(NGINX, ['-p', folder, '-c', path, '-e', join(folder, 'nginx.log')], { stdio: 'ignore' });
  for (let looks = 0; !(await accepts(port)); looks++) {
    if (looks > 200 || proxy.exitCode !== null) throw new Error('nginx does not listen');
    await sleep(systemClock, 25);
  }
  return proxy;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

/** A word of a second every two seconds, for a minute, at 8 kHz. */
const SAID = toneSpeech(30, 400).filter((_, i) => i % 2 === 0);

/** A simulated call. */
export interface TestCall {
  readonly callSid: string;
  /** How it went, when it is over; null = its gateway vanished. */
  readonly report: Promise<CallReport | null>;
}

/** Places a call at `url`, of a gateway or of nginx, that says `words` words, one every two seconds, 30 at most. */
export function speakAt(url: string, callSid: string, words = 30): TestCall {
  const report = placeCall({
    url: `${url.replace(/^http/, 'ws')}/twilio/media`,
    tracks: { inbound: SAID.subarray(0, words * 16_000) },
    pace: 'realtime',
    clock: systemClock,
    callSid,
  }).catch(() => null);
  return { callSid, report };
}

/** The calls that the gateway at `url` lists. @throws Error when it does not answer with a list */
export async function callsAt(url: string, query = ''): Promise<readonly CallView[]> {
  const response = await fetch(`${url}/v1/calls${query}`);
  if (!response.ok) throw new Error(`GET /v1/calls answered ${response.status}`);
  return ((await response.json()) as { data: readonly CallView[] }).data;
}

/** The final captions of a call that are stored, as the gateway at `url` tells them. */
export async function finalsAt(url: string, callId: string): Promise<readonly CaptionEvent[]> {
  const response = await fetch(`${url}/v1/calls/${callId}/events?limit=1000`);
  const { data } = (await response.json()) as { data: readonly { readonly event: FeedEvent }[] };
  return data
    .map(({ event }) => event)
    .filter((event): event is CaptionEvent => event.type === 'caption' && event.final);
}
