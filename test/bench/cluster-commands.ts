/** What it costs to ask the gateway that does not have a call: each is whole, both in this process. */

import { beginCall, type ClusterGateway, live, startCluster } from '../helpers/cluster.ts';
import type { TestPostgres } from '../helpers/postgres.ts';
import { figure, quantile, type Table } from './report.ts';

const WARM_UP = 20;

/** `interrupt` of one live call over HTTP, `requests` times: at its own gateway, and at the other one. */
export async function benchCommands(postgres: TestPostgres, requests: number): Promise<Table> {
  const [one, two] = (await startCluster(await postgres.createDatabase())) as [ClusterGateway, ClusterGateway];
  try {
    const prepared = await two.ask('/v1/phone', { method: 'POST' });
    const { socket, callId } = await beginCall(two, (await prepared.json()) as { callId: string; token: string });
    await live(two, callId);
    const rows: string[][] = [];
    for (const [name, at] of [
      ['to its own gateway', two],
      ['passed on by another', one],
    ] as const) {
      const delays = await measure(at, `/v1/calls/${callId}/interrupt`, requests);
      rows.push([name, figure(quantile(delays, 0.5), 2), figure(quantile(delays, 0.99), 2)]);
    }
    socket.terminate();
    return { title: 'A command (ms, HTTP there and back)', heads: ['asked', 'p50', 'p99'], rows };
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
}

async function measure(at: ClusterGateway, path: string, requests: number): Promise<number[]> {
  const delays: number[] = [];
  for (let request = 0; request < WARM_UP + requests; request++) {
    const beganMs = performance.now();
    const answer = await at.ask(path, { method: 'POST' });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`the command was answered with ${answer.status}`);
    if (request >= WARM_UP) delays.push(performance.now() - beganMs);
  }
  return delays;
}
