/** Examples of how a server and its database are. */
import type { Examples } from './example.ts';

const sweep = {
  now: '2026-11-24T09:30:00.000Z',
  calls: { due: 12, kept: 4211 },
  lines: { due: 0, kept: 90120 },
  held: null,
};
const system = {
  version: '0.2.0',
  startedAt: '2026-11-24T06:00:00.000Z',
  uptimeMs: 12600000,
  state: 'ready',
  provider: 'cpu',
  models: { asr: 'moonshine', vad: 'silero', tts: 'hibari', turn: null },
  recognisers: [
    {
      role: 'live',
      reads: 'everything',
      name: 'moonshine',
      languages: ['en'],
      state: 'ready',
      ready: 2,
      workers: 2,
    },
  ],
  fallbacks: [],
  voice: 'hibari',
  engines: [
    {
      role: 'live',
      state: 'ready',
      pid: 4120,
      device: 'cpu',
      busyShare: 0.31,
      jobs: 90412,
      restarts: 0,
      lastRestart: null,
    },
  ],
  queue: [{ urgency: 'final', waiting: 0, assigned: 1 }],
  servers: [],
  calls: { live: 3, max: 40, peak: 11, today: 128 },
  finalLag: { windowMs: 300000, finals: 64, p50Ms: 180, p95Ms: 420 },
  partialsDropped: 2,
  waysIn: [
    {
      id: 'twilio_webhook',
      name: 'Twilio webhook',
      configured: true,
      open: true,
      protection: 'secret',
      settings: ['TWILIO_AUTH_TOKEN', 'PUBLIC_URL'],
      workedAt: '2026-11-24T09:29:12.000Z',
      failure: null,
      isFailing: false,
    },
  ],
  apps: [{ app: 'wss://app.example.com/calls', isOwn: true, reachedAt: '2026-11-24T09:29:12.000Z', trouble: null }],
  refused: [{ code: 'invalid_api_key', count: 2, refuses: 'requests', remedy: 'Check the key of the client' }],
  departures: [{ what: 'answers', to: 'wss://app.example.com', leavesMachine: true }],
  disk: {
    folder: '/var/lib/trunkline',
    parts: [{ name: 'sound', bytes: 1073741824, isCut: false }],
    freeBytes: 53687091200,
  },
  records: {
    kind: 'sqlite',
    retentionDays: 30,
    calls: 4211,
    oldestAt: '2026-10-25T08:00:00.000Z',
    backlog: 0,
    lost: 0,
    redaction: 'off',
    warnings: [],
    sound: { record: 'both', isEncrypted: true, bytes: 1073741824 },
  },
  gateways: [],
  sipTrunks: [{ name: 'default', registered: true, up: true }],
  prompts: { cached: 214, memoryBytes: 8388608, diskBytes: 20971520, uploaded: 3 },
};

/** By `operationId`. */
export const systemExamples: Examples = {
  getHealth: { response: { status: 'ok', mode: 'gateway', worker_alive: true, model_loaded: true } },
  getReadiness: {
    response: {
      status: 'ready',
      engine: {
        state: 'ready',
        ready: 2,
        workers: 2,
        provider: 'cpu',
        devices: ['cpu'],
        models: { asr: 'moonshine', vad: 'silero', tts: 'hibari' },
      },
    },
  },
  getMetrics: { response: '# TYPE trunkline_calls_live gauge\ntrunkline_calls_live 3\n' },
  getSystem: { response: system },
  listSystemChecks: { response: { data: [{ name: 'disk', status: 'ok', detail: '50 GiB are free' }] } },
  listSystemSettings: {
    response: {
      data: [
        {
          name: 'MAX_CALLS',
          key: 'calls.max',
          from: 'environment',
          value: '40',
          default: '0',
          unit: '',
          meaning: 'Most calls at once',
          isChanged: true,
          isEveryday: true,
        },
      ],
    },
  },
  testApp: { response: { reachable: true, detail: 'the app took the connection', tookMs: 84 } },
  getDatabase: {
    response: {
      kind: 'sqlite',
      place: '/var/lib/trunkline/records.sqlite',
      sizeBytes: 73400320,
      applied: ['0001', '0002'],
      pending: [],
      calls: 4211,
      oldestCallAt: '2026-10-25T08:00:00.000Z',
      backlog: 0,
      retentionDays: 30,
    },
  },
  createDatabaseBackup: { response: { path: '/var/lib/trunkline/backups/2026-11-24T09-30-00.sqlite' } },
  queryDatabase: {
    request: { sql: 'SELECT carrier, count(*) AS calls FROM calls GROUP BY carrier' },
    response: { rows: [{ carrier: 'twilio', calls: 4211 }], isCut: false },
  },
  getRefusedEvents: {
    response: { events: 2, bytes: 812, calls: [{ callId: 'CA5ef8…', events: 2, why: ['value too long'] }] },
  },
  retryRefusedEvents: { response: { stored: 2, left: 0 } },
  getSweep: { response: sweep },
  startSweep: { response: { ...sweep, calls: { due: 0, kept: 4211 } } },
};
