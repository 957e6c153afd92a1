/** Alarms of deploy/prometheus, each provoked at a running server. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../helpers/certificates.ts';
import { API_KEY, beginCall, type ClusterGateway, callFromPage, live, startCluster } from '../helpers/cluster.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { alarms, quietOnes, whyNoPromtool } from '../helpers/promtool.ts';

describe.runIf(whyNoPromtool === '')(`a server that keeps its own records${whyNoPromtool}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-alarms-'));
  let server: ClusterGateway;
  beforeAll(async () => {
    mkdirSync(join(folder, 'backups'), { recursive: true });
    const stamp = new Date(Date.now() - 20 * 86_400_000).toISOString().replace(/[-:.Z]/g, '');
    writeFileSync(join(folder, 'backups', `records-${stamp}Z-request.sqlite`), '');
    const { cert, key } = makeCertificate(folder, 'server', 2);
    [server] = (await startCluster('', 1, {
      DATABASE_URL: '',
      CLUSTER_KEY: '',
      GATEWAY_URL: '',
      DATA_DIR: folder,
      TLS_CERT: cert,
      TLS_KEY: key,
    })) as [ClusterGateway];
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const scrape = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${API_KEY}` };
      const url = `${server.url.replace('http', 'https')}/metrics`;
      request(url, { headers, rejectUnauthorized: false }, (response) => {
        let page = '';
        response.on('data', (chunk: Buffer) => {
          page += chunk.toString();
        });
        response.on('end', () => resolve(page));
      })
        .on('error', reject)
        .end();
    });

  it('has alarms for its certificate, its last copy and its disk', async () => {
    await expect.poll(scrape).toMatch(/trunkline_data_disk_bytes [1-9]/);
    const names = ['TrunklineBackupOld', 'TrunklineCertificateExpires', 'TrunklineDiskNearlyFull'];
    // The disk of a test is not to be filled: its figures are real, the limit is not.
    const page = await scrape();
    expect(quietOnes(alarms(names, [['< 0.1', '< 1']]), { before: page, after: page })).toEqual([]);
  });
});

describe.runIf(whyNoPostgres + whyNoPromtool === '')(`a gateway without its database${whyNoPostgres}`, () => {
  let postgres: TestPostgres;
  let gateway: ClusterGateway;
  beforeAll(async () => {
    postgres = await startPostgres();
    [gateway] = (await startCluster(await postgres.createDatabase(), 1)) as [ClusterGateway];
  });
  afterAll(async () => {
    await gateway.close();
    await postgres.remove();
  });

  const scrape = async (): Promise<string> => (await gateway.ask('/metrics')).text();

  it('has alarms for that, for what waits, and for what it refuses', async () => {
    const before = await scrape();
    await postgres.stop('crash');
    const call = await callFromPage(gateway, gateway);
    await live(gateway, call.callId);
    const stranger = await beginCall(gateway, { callId: 'web-1', token: 'given-by-another-one-1' });
    expect(await stranger.closed).toBe(1013);
    await expect.poll(scrape).toMatch(/^trunkline_feed_degraded 1$/m);
    const names = ['TrunklineDatabaseAway', 'TrunklineRecordsWait', 'TrunklineSharedStateUnavailable'];
    // Nobody waits for a minute here.
    const after = await scrape();
    call.socket.terminate();
    expect(quietOnes(alarms(names, [['> 60', '> 0']]), { before, after })).toEqual([]);
    expect(quietOnes(alarms(names), { before, after: before })).toHaveLength(names.length);
  });
});
