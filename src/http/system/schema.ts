/** What `GET /v1/system` answers. Times are ISO 8601. */
import { z } from 'zod';
import { nameSchemas } from '../server/named-schemas.ts';
import { sipTrunkSchema } from './sip-trunks.ts';
import { wayInSchema } from './ways-in.ts';

const engine = z.object({
  role: z.enum(['live', 'final']).describe('`final`: it has ASR_FINAL_MODEL and reads finals and recordings'),
  state: z.enum(['stopped', 'starting', 'ready', 'silent']).describe('`silent`: it has work and gives no sign of life'),
  pid: z.int().nullable(),
  device: z.string().nullable().describe('What its recogniser runs on: cpu, or cuda:0 and so on; null = not ready'),
  busyShare: z.number().describe('Share of its time that model runs took over the last 5 s, 0 to 1'),
  jobs: z.int().describe('Jobs that it has and has not answered'),
  restarts: z.int().describe('Times that it died or hung and was started again'),
  lastRestart: z.object({ at: z.string(), reason: z.string() }).nullable(),
});

const queue = z.object({
  urgency: z.string().describe('The most urgent first'),
  waiting: z.int().describe('Jobs that no engine has yet'),
  assigned: z.int().describe('Jobs that engines have'),
});

const recogniser = z.object({
  role: z.enum(['live', 'final']),
  reads: z.enum(['everything', 'partials', 'finals']),
  name: z.string(),
  languages: z.array(z.string()).nullable().describe('BCP-47, the assumed one first; null = not loaded yet'),
  state: z
    .enum(['ready', 'starting', 'stopped', 'missing'])
    .describe('`stopped`: it starts when there is something to read; `missing`: it cannot be started'),
  ready: z.int().describe('Engine processes that can take work'),
  workers: z.int().describe('Engine processes that should run'),
});

const fallback = z.object({
  reason: z.enum(['late', 'busy', 'not_ready', 'failed']).describe('As in trunkline_final_fallbacks_total'),
  count: z.int().describe('Since the start'),
});

const server = z.object({
  setting: z.enum(['ASR_URL', 'TTS_URL']),
  url: z.string().describe('Without credentials and query'),
  protocol: z.string().describe('What it speaks: the scheme of the URL'),
  state: z
    .enum(['closed', 'open', 'half_open'])
    .describe('Of its breaker. `open`: it failed and is left alone; `half_open`: it is tried, or will be next'),
  inFlight: z.int().describe('Requests under way'),
  inFlightMax: z.int().describe('Requests that it may have at once now'),
  p50Ms: z.number().nullable().describe('Of the last 100 answers to calls, of voices to the first sound; null = few'),
  p95Ms: z.number().nullable(),
  lastError: z.object({ at: z.string(), message: z.string() }).nullable().describe('Null = none since the start'),
  languages: z.array(z.string()).describe('BCP-47; empty = what ASR_MODEL understands'),
});

const models = z.object({ asr: z.string(), vad: z.string(), tts: z.string(), turn: z.string().nullable() });

const appReach = z.object({
  app: z.string().describe('Its address without what may be secret in it'),
  isOwn: z.boolean().describe('It is that of APP_URL or APP_TWIML_URL; others were named by calls'),
  reachedAt: z.string().nullable().describe('When a connection was last made; null = not since the start'),
  trouble: z
    .object({ reason: z.string(), count: z.int(), since: z.string(), last: z.string() })
    .nullable()
    .describe('Failed connections since it was last reached; null = none'),
});

const refusal = z.object({
  code: z.string(),
  count: z.int().describe('Since the start'),
  refuses: z.enum(['calls', 'requests']),
  remedy: z.string().nullable().describe('What to do about it'),
});

const departure = z.object({
  what: z.enum(['translation', 'hints', 'recognition', 'synthesis', 'webhooks', 'answers']),
  to: z.string().describe('The origin that it goes to'),
  leavesMachine: z.boolean().describe('It is not a loopback address'),
});

const disk = z.object({
  folder: z.string().nullable().describe('DATA_DIR; null = none is used'),
  parts: z.array(
    z.object({
      name: z.string(),
      bytes: z.int(),
      isCut: z.boolean().describe('There are more files than are counted'),
    }),
  ),
  freeBytes: z.int().nullable().describe('What the disk has left; null = it cannot be told'),
});

const records = z.object({
  kind: z.enum(['sqlite', 'postgres']),
  retentionDays: z.int().describe('0 = calls are kept for ever'),
  calls: z.int().nullable(),
  oldestAt: z.string().nullable().describe('When the oldest kept call began'),
  backlog: z.int().describe('Events that wait to be stored'),
  lost: z.int().describe('Events that could not be stored'),
  redaction: z.string().describe('REDACT'),
  warnings: z.array(z.string()).describe('Why nothing is deleted, or that clocks differ; empty = all is well'),
  sound: z
    .object({
      record: z.enum(['off', 'caller', 'both']).describe('RECORD'),
      isEncrypted: z.boolean().describe('RECORD_KEY is set'),
      bytes: z.int().describe('Of all recorded sound'),
    })
    .nullable()
    .describe('Null = there is no folder for sound'),
});

const gateway = z.object({
  id: z.string().describe('Made anew at each start'),
  name: z.string().describe('The name of its machine'),
  address: z.string().describe('GATEWAY_URL'),
  state: z.enum(['starting', 'serving', 'draining']),
  isThis: z.boolean().describe('It answers this request'),
  live: z.int().describe('Calls that take up a place there'),
  max: z.int().describe('Its MAX_CALLS'),
  firmLoad: z.number().describe('Share of its engines that finals, speech and detection take; 1 = all'),
  startedAt: z.string(),
});

/** The whole answer. */
export const systemSchema = z.object({
  version: z.string(),
  startedAt: z.string(),
  uptimeMs: z.int(),
  state: z.enum(['ready', 'starting', 'draining', 'failed']),
  provider: z.string().nullable().describe('What the models run on: cpu or cuda; null until known'),
  models: models.nullable().describe('Null until an engine was ready'),
  recognisers: z.array(recogniser).describe('ASR_MODEL, then ASR_FINAL_MODEL where it is set'),
  fallbacks: z.array(fallback).describe('Readings by ASR_MODEL in the place of ASR_FINAL_MODEL'),
  voice: z.string().nullable().describe('Speaks texts that name no voice'),
  engines: z.array(engine),
  queue: z.array(queue),
  servers: z.array(server).describe('Those of ASR_URL, then those of TTS_URL'),
  calls: z.object({
    live: z.int(),
    max: z.int().describe('MAX_CALLS; where that is 0 and ASR_URL is set, as measured now'),
    peak: z.int().describe('Most at once since the start'),
    today: z.int().describe('Begun today, by the server’s time zone; without records, of those since the start'),
  }),
  finalLag: z.object({
    windowMs: z.int(),
    finals: z.int().describe('Final captions in that time'),
    p50Ms: z.number().nullable(),
    p95Ms: z.number().nullable(),
  }),
  partialsDropped: z.int().describe('Since the start'),
  waysIn: z.array(wayInSchema),
  sipTrunks: z.array(sipTrunkSchema).describe('Registrars and trunks of which something is known'),
  apps: z.array(appReach),
  refused: z.array(refusal),
  departures: z.array(departure).describe('Where speech or what was said goes to'),
  disk,
  records: records.nullable().describe('Null = nothing is kept'),
  gateways: z.array(gateway).describe('The servers that share DATABASE_URL (CLUSTER_KEY); empty = this one is alone'),
  prompts: z.object({ cached: z.int(), memoryBytes: z.int(), diskBytes: z.int(), uploaded: z.int() }),
});

nameSchemas({
  SystemEngine: engine,
  SystemRecogniser: recogniser,
  RemoteServer: server,
  SystemRecords: records,
  Gateway: gateway,
  System: systemSchema,
  SystemRefusal: refusal,
  Departure: departure,
  AppReach: appReach,
  SystemDisk: disk,
});

/** As the route answers it. */
export type SystemAnswer = z.infer<typeof systemSchema>;
