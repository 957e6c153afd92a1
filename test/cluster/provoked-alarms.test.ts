/** More alarms of deploy/prometheus, each provoked at a running server: what dies, fails, hangs or is wrong. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { AsrServer, json } from '../fakes/asr-server.ts';
import { TtsServer } from '../fakes/tts-server.ts';
import { type ClusterGateway, callFromPage, live, startCluster } from '../helpers/cluster.ts';
import { eventually } from '../helpers/eventually.ts';
import { type SharedPostgres, sharedPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { alarms, quietOnes, whyNoPromtool } from '../helpers/promtool.ts';
import { toneSpeech } from '../helpers/tones.ts';

/** A gateway that was silent for ten seconds is dead. */
const DEATH = { timeout: 40_000, interval: 100 };

let gateway: ClusterGateway;
const scrape = async (): Promise<string> => (await gateway.ask('/metrics')).text();

/** Has `alarm` provoked by `provoke` until `sample` is there; the alarm must be silent before and fire then. */
async function expectAlarm(
  alarm: string,
  {
    provoke,
    sample,
    changed = [],
  }: {
    provoke: () => Promise<unknown>;
    sample: RegExp;
    changed?: readonly (readonly [string, string])[];
  },
): Promise<void> {
  const expressions = alarms([alarm], changed);
  const before = await scrape();
  expect(quietOnes(expressions, { before, after: before })).toHaveLength(1);
  await provoke();
  await expect.poll(scrape, DEATH).toMatch(sample);
  expect(quietOnes(expressions, { before, after: await scrape() })).toEqual([]);
}

describe.runIf(whyNoPromtool === '')(`a server whose parts fail${whyNoPromtool}`, () => {
  const [empty, broken, speaker] = [new AsrServer(), new AsrServer(), new TtsServer()];
  const hung = createServer(() => undefined);
  beforeAll(async () => {
    await Promise.all([empty.listen(), broken.listen(), speaker.listen()]);
    await once(hung.listen(0, '127.0.0.1'), 'listening');
    [gateway] = (await startCluster('', 1, {
      DATABASE_URL: '',
      CLUSTER_KEY: '',
      GATEWAY_URL: '',
      ASR_URL: `${empty.url},${broken.url}`,
      TTS_URL: `${speaker.url};voices=heart`,
      BATCH_ALLOW_PRIVATE: 'true',
      ENGINE_PRELOAD: 'true',
    })) as [ClusterGateway];
    await eventually(async () => expect((await gateway.ask('/ready')).status).toBe(200));
  });
  afterAll(async () => {
    await gateway.close();
    hung.closeAllConnections();
    hung.close();
    await Promise.all([empty.close(), broken.close(), speaker.close()]);
  });

  const up = (server: { readonly url: string }, kind: 'asr' | 'tts') =>
    new RegExp(`^trunkline_${kind}_backend_up\\{backend="${new URL(server.url).host}/?"\\} 0$`, 'm');

  async function transcribe(times: number): Promise<void> {
    const wav = writeWav([toneSpeech(1, 400)], 16_000) as Uint8Array<ArrayBuffer>;
    for (let time = 0; time < times; time++) {
      const body = new FormData();
      body.append('file', new Blob([wav]), 'a.wav');
      const answer = await gateway.ask('/v1/audio/transcriptions', { method: 'POST', body });
      expect(answer.status).toBe(200);
    }
  }

  it('has an alarm for a recogniser that fails', () =>
    expectAlarm('TrunklineRecogniserDown', {
      provoke: async () => {
        broken.behave = json({ error: 'no' }, 500);
        await transcribe(8);
      },
      sample: up(broken, 'asr'),
    }));

  it('has an alarm for a recogniser that has no words for speech', () =>
    expectAlarm('TrunklineRecogniserEmpty', {
      provoke: async () => {
        empty.behave = json({ text: '' });
        await transcribe(4);
      },
      sample: /^trunkline_asr_remote_empty_total\{.*missed="yes"\} [3-9]$/m,
    }));

  it('has an alarm for a server of voices that fails', () =>
    expectAlarm('TrunklineVoiceServerDown', {
      provoke: async () => {
        speaker.behave = (response) => void response.writeHead(500).end();
        for (const input of ['One.', 'Two.', 'Three.', 'Four.']) {
          const body = JSON.stringify({ model: 'tts-1', voice: 'remote:heart', input });
          await (await gateway.ask('/v1/audio/speech', { method: 'POST', body })).arrayBuffer();
        }
      },
      sample: up(speaker, 'tts'),
    }));

  it('has an alarm for an engine that dies', () =>
    expectAlarm('TrunklineEngineRestarts', {
      provoke: async () => {
        const system = (await (await gateway.ask('/v1/system')).json()) as { engines: { pid: number }[] };
        for (const { pid } of system.engines) process.kill(pid, 'SIGKILL');
      },
      sample: /^trunkline_engine_restarts_total 1$/m,
    }));

  it('has an alarm for a batch that does not come forward', () =>
    expectAlarm('TrunklineBatchesWait', {
      provoke: async () => {
        const url = `http://127.0.0.1:${(hung.address() as AddressInfo).port}/a.wav`;
        const answer = await gateway.ask('/v1/batches', {
          method: 'POST',
          body: JSON.stringify({ inputs: [{ url }] }),
        });
        expect(answer.status).toBe(202);
      },
      sample: /^trunkline_batch_wait_seconds [0-9.]*[1-9]/m,
      // Nobody waits for an hour here.
      changed: [['> 3600', '> 0']],
    }));
});

describe.runIf(whyNoPostgres + whyNoPromtool === '')(`a gateway among others${whyNoPostgres}`, () => {
  let postgres: SharedPostgres;
  let database: pg.Client;
  beforeAll(async () => {
    postgres = await sharedPostgres();
    const url = await postgres.createDatabase();
    database = new pg.Client({ connectionString: url });
    await database.connect();
    [gateway] = (await startCluster(url, 1)) as [ClusterGateway];
  });
  afterAll(async () => {
    await gateway.close();
    await database.end();
  });

  it('has an alarm for events that the database refuses', () =>
    expectAlarm('TrunklineRecordsRefused', {
      provoke: async () => {
        await database.query("ALTER TABLE events ADD CONSTRAINT no_notes CHECK (type <> 'note')");
        const call = await callFromPage(gateway, gateway);
        await live(gateway, call.callId);
        const body = JSON.stringify({ text: 'Call back.' });
        expect((await gateway.ask(`/v1/calls/${call.callId}/notes`, { method: 'POST', body })).status).toBe(201);
        call.socket.terminate();
      },
      sample: /^trunkline_records_refused_total 1$/m,
    }));

  it('has an alarm for another one that dies', () =>
    expectAlarm('TrunklineGatewayDied', {
      provoke: () =>
        // As a machine leaves it that has lost its power: nobody answers at its address.
        database.query(`INSERT INTO gateways (id, name, address, state, live, max_calls, firm_load, started_ms, seen_ms)
          VALUES ('gone', 'gone', 'http://127.0.0.1:9', 'serving', 0, 1, 0, 1, 1)`),
      sample: /^trunkline_cluster_deaths_total 1$/m,
    }));
});

describe.runIf(whyNoPostgres + whyNoPromtool === '')(`a gateway with a wrong clock${whyNoPostgres}`, () => {
  let postgres: SharedPostgres;
  beforeAll(async () => {
    postgres = await sharedPostgres();
    const url = await postgres.createDatabase();
    // The clock of the database is found before the system's: to the gateway it is 90 seconds behind.
    const database = new pg.Client({ connectionString: url });
    await database.connect();
    await database.query(`CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql
      AS $$ SELECT pg_catalog.clock_timestamp() - INTERVAL '90 seconds' $$`);
    await database.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = public, pg_catalog`);
    await database.end();
    [gateway] = (await startCluster(url, 1)) as [ClusterGateway];
  });
  afterAll(async () => {
    await gateway.close();
  });

  it('has an alarm for it', async () => {
    await expect.poll(scrape).toMatch(/^trunkline_records_clock_off_seconds (89|90)/m);
    const page = await scrape();
    expect(quietOnes(alarms(['TrunklineClockOff']), { before: page, after: page })).toEqual([]);
  });
});
