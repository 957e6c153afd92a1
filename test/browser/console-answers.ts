/** What a server with some calls, engines and troubles answers the page. */
import type { Page, Route } from 'playwright-core';
import type { CallView } from '../../src/calls/call-view.ts';
import { callView } from '../helpers/call-view.ts';

const HOUR_MS = 3_600_000;

/** Paths (with `*`) with what they answer; a function sees the request. */
export type Answers = Readonly<Record<string, object | ((url: URL, route: Route) => object)>>;

/** Answers these paths in place of the server, each with 200 unless the answer has a `status`. */
export async function answer(page: Page, answers: Answers): Promise<void> {
  for (const [path, given] of Object.entries(answers)) {
    await page.route(
      (url) => url.pathname === path,
      async (route) => {
        const body = typeof given === 'function' ? given(new URL(route.request().url()), route) : given;
        const status = 'status' in body && typeof body.status === 'number' ? body.status : 200;
        await route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(body) });
      },
    );
  }
}

/** A refusal with a code of the errors. */
export function refusal(status: number, code: string, message: string): object {
  return { status, error: { message, type: 'x', param: null, code } };
}

const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

function ended(id: string, minutes: number, changes: Partial<CallView> = {}): CallView {
  return callView(id, {
    state: 'ended',
    phase: null,
    startedAt: minutesAgo(minutes),
    endedAt: minutesAgo(minutes - 3),
    endReason: 'hangup',
    tracks: ['inbound', 'outbound'],
    durationMs: 192_000,
    lagMs: 80,
    worstLagMs: 300,
    counts: { finals: 14, spoken: 0, keys: 0, gaps: 0 },
    ...changes,
  });
}

/** Calls that ended well and badly, as a list has them. */
export const CALLS: readonly CallView[] = [
  callView('CA0', {
    names: { inbound: 'Ines Duarte', outbound: 'Tom' },
    startedAt: minutesAgo(2),
    durationMs: 121_000,
    counts: { finals: 4, spoken: 0, keys: 0, gaps: 0 },
  }),
  ended('CA1', 12, {
    names: { inbound: 'Maria Keller', outbound: 'Tom' },
    outcome: 'call back',
    tags: ['refund', 'vip'],
    sound: 'recorded',
  }),
  ended('CA2', 14, {
    from: '+14155550296',
    to: '102',
    endReason: 'lost',
    durationMs: 21_000,
    counts: { finals: 1, spoken: 0, keys: 0, gaps: 1 },
  }),
  ended('CA3', 23, {
    from: '+14155550333',
    to: '+14155550199',
    queue: 'IVR menu',
    handoffData: '{"reason":"person"}',
    endReason: 'app',
    durationMs: 22_000,
    counts: { finals: 2, spoken: 4, keys: 2, gaps: 0 },
  }),
  ended('CA4', 96, { names: { inbound: 'Kenji Watanabe', outbound: 'Anna' }, durationMs: 804_000 }),
  ended('CA5', 24 * 60, { from: '+442071838750', to: '+14155550199', endReason: 'unanswered', durationMs: 0 }),
  ended('CA6', 26 * 60, { from: '+14155550123', to: '+14155550199', endReason: 'app_unreachable', durationMs: 4000 }),
];

/** The same, found by their words. */
export const FOUND = [
  {
    ...CALLS[1],
    found: [
      {
        track: 'inbound',
        startMs: 14_000,
        parts: [
          { text: '…I really want to ', marked: false },
          { text: 'CANCEL', marked: true },
          { text: ' my contract, this is the third time', marked: false },
        ],
      },
      {
        track: 'outbound',
        startMs: 21_000,
        parts: [
          { text: 'before you ', marked: false },
          { text: 'cancel', marked: true },
          { text: ', may I look at the line?', marked: false },
        ],
      },
    ],
  },
];

/** A server in the midst of its day, with two engines, an app that is gone, and refusals. */
export const SYSTEM = {
  version: '0.2.0',
  startedAt: minutesAgo((12 * 24 + 3) * 60),
  uptimeMs: 12 * 24 * HOUR_MS + 3 * HOUR_MS,
  state: 'ready',
  provider: 'cpu',
  models: { asr: 'moonshine-base', vad: 'silero-v5', tts: 'hibari', turn: 'smart-turn' },
  recognisers: [
    {
      role: 'live',
      reads: 'everything',
      name: 'moonshine-base',
      languages: ['en'],
      state: 'ready',
      ready: 2,
      workers: 2,
    },
  ],
  fallbacks: [],
  voice: 'hibari:heart',
  engines: [
    {
      role: 'live',
      state: 'ready',
      pid: 4711,
      device: 'cpu',
      busyShare: 0.58,
      jobs: 3,
      restarts: 0,
      lastRestart: null,
    },
    {
      role: 'live',
      state: 'ready',
      pid: 4712,
      device: 'cpu',
      busyShare: 0.61,
      jobs: 2,
      restarts: 1,
      lastRestart: { at: minutesAgo(3000), reason: 'was ended by SIGKILL' },
    },
  ],
  queue: [
    { urgency: 'final', waiting: 0, assigned: 2 },
    { urgency: 'batch', waiting: 3, assigned: 1 },
  ],
  servers: [
    {
      setting: 'ASR_URL',
      url: 'https://gpu1.harbor.example/v1',
      protocol: 'https',
      state: 'closed',
      inFlight: 6,
      inFlightMax: 32,
      p50Ms: 84.2,
      p95Ms: 190.7,
      lastError: null,
      languages: ['de', 'fr'],
    },
    {
      setting: 'ASR_URL',
      url: 'triton://gpu2.harbor.example:8001/whisper',
      protocol: 'triton',
      state: 'open',
      inFlight: 0,
      inFlightMax: 16,
      p50Ms: null,
      p95Ms: null,
      lastError: { at: minutesAgo(4), message: 'it could not be reached (ECONNREFUSED)' },
      languages: [],
    },
  ],
  calls: { live: 10, max: 40, peak: 31, today: 412 },
  finalLag: { windowMs: 300_000, finals: 812, p50Ms: 180, p95Ms: 410 },
  partialsDropped: 0,
  waysIn: [
    way('twilio_webhook', 'Twilio webhook', { protection: 'secret', workedAt: minutesAgo(2) }),
    way('twilio', 'Twilio media', { protection: 'secret', workedAt: minutesAgo(2) }),
    way('ari', 'Asterisk ARI', { workedAt: minutesAgo(700), settings: ['ARI_URL'] }),
    way('audiosocket', 'AudioSocket', { configured: false, open: false, settings: ['AUDIOSOCKET_PORT'] }),
    way('sip_registration', 'SIP registration', {
      open: false,
      settings: ['SIP_PORT', 'SIP_REGISTRAR'],
      workedAt: minutesAgo(90),
      failure: { at: minutesAgo(4), reason: 'unreachable' },
    }),
    way('vonage', 'Vonage', { configured: false, protection: 'local' }),
    way('browser', 'Browser phone', { protection: 'secret', workedAt: minutesAgo(40) }),
  ],
  apps: [
    {
      app: 'wss://app.harbor.example/talk',
      isOwn: true,
      reachedAt: minutesAgo(60),
      trouble: { reason: 'ECONNREFUSED', count: 7, since: minutesAgo(21), last: minutesAgo(1) },
    },
  ],
  refused: [
    { code: 'too_many_calls', count: 3, refuses: 'calls', remedy: 'Raise MAX_CALLS if the engines have time left.' },
    {
      code: 'signature_invalid',
      count: 1,
      refuses: 'calls',
      remedy: 'TWILIO_AUTH_TOKEN must be the account’s primary auth token.',
    },
    { code: 'route_not_found', count: 12, refuses: 'requests', remedy: null },
  ],
  departures: [{ what: 'translation', to: 'https://llm.example', leavesMachine: true }],
  disk: {
    folder: '/var/lib/trunkline',
    parts: [
      { name: 'records', bytes: 812_000_000, isCut: false },
      { name: 'sound', bytes: 1_210_000_000, isCut: false },
      { name: 'prompts', bytes: 9_400_000, isCut: false },
      { name: 'models', bytes: 96_000_000, isCut: false },
    ],
    freeBytes: 41_000_000_000,
  },
  records: {
    kind: 'sqlite',
    retentionDays: 30,
    calls: 9821,
    oldestAt: minutesAgo(30 * 24 * 60),
    backlog: 2,
    lost: 0,
    redaction: 'store',
  },
  gateways: [
    gateway('bridge-0', { isThis: true, live: 14, firmLoad: 0.41 }),
    gateway('bridge-1', { live: 38, firmLoad: 0.93 }),
    gateway('bridge-2', { state: 'draining', live: 3 }),
  ],
  prompts: { cached: 118, memoryBytes: 14_200_000, diskBytes: 9_400_000, uploaded: 1 },
};

function gateway(name: string, changes: { readonly [name: string]: unknown }): object {
  const address = `http://${name}.bridge.internal:8080`;
  const usual = { id: name, name, address, state: 'serving', isThis: false, live: 0, max: 40, firmLoad: 0.05 };
  return { ...usual, startedAt: minutesAgo(600), ...changes };
}

function way(id: string, name: string, changes: { failure?: object; [name: string]: unknown }): object {
  const usual = { configured: true, open: true, protection: null, settings: [], workedAt: null, failure: null };
  return { id, name, ...usual, isFailing: changes.failure !== undefined, ...changes };
}

/** Two prompts, one of them recorded. */
export const PROMPTS = {
  data: [
    prompt('recorded', 'Welcome to Harbor Internet, how can I help you today?', 3800),
    prompt('calls', 'Please hold the line.', 1300),
  ],
  next: null,
};

function prompt(source: string, text: string, durationMs: number): object {
  const id = (source === 'recorded' ? 'a' : 'b').repeat(32);
  const usual = { voice: 'hibari:heart', speed: 1, codec: null, bytes: durationMs * 8 };
  return { id, source, text, durationMs, ...usual, madeAt: minutesAgo(900), usedAt: minutesAgo(3) };
}

/** Some settings, one of them changed. */
export const SETTINGS = {
  data: [
    setting('MAX_CALLS', '40', 'Live calls that are taken at most.', true),
    setting('API_KEYS', '(set)', 'Keys for the API.', true),
    setting('ENDPOINT_MS', '400', 'Silence that ends an utterance.', false),
  ],
};

function setting(name: string, value: string, meaning: string, isChanged: boolean): object {
  return { name, value, default: '0', unit: 'number', meaning, isChanged, isEveryday: true };
}

/** Everything that both views ask for. */
export const USUAL: Answers = {
  '/v1/session': {
    name: 'anna',
    role: 'admin',
    agent: null,
    permissions: [
      'calls.read',
      'calls.act',
      'calls.note',
      'calls.make',
      'calls.export',
      'calls.delete',
      'system',
      'settings',
      'prompts',
      'prompts.read',
      'audit',
      'administration',
    ],
  },
  '/v1/calls': (url) => ({ data: url.searchParams.has('q') ? FOUND : CALLS, next: 'cursor-2' }),
  '/v1/system': SYSTEM,
  '/v1/prompts': PROMPTS,
  '/v1/voices': { data: [{ name: 'hibari:heart' }, { name: 'rms' }] },
  '/v1/system/settings': SETTINGS,
  '/v1/system/checks': {
    data: [
      { name: 'node', status: 'ok', detail: '20.20.2' },
      { name: 'ffmpeg', status: 'warn', detail: 'no ffprobe: install the ffprobe of ffmpeg' },
    ],
  },
  '/v1/system/app-test': { reachable: false, detail: 'ECONNREFUSED', tookMs: 3 },
  '/v1/admin/users': {
    data: [
      { name: 'tom', kind: 'person', role: 'agent', agent: 'tom', createdAt: null },
      { name: 'dashboard', kind: 'key', role: 'app', agent: null, createdAt: null },
    ],
  },
  '/v1/audit': {
    data: [
      { position: 2, at: minutesAgo(5), who: 'anna', role: 'admin', action: 'call.read', callId: 'CA1', detail: {} },
      { position: 1, at: minutesAgo(9), who: 'tom', role: 'agent', action: 'calls.searched', callId: null, detail: {} },
    ],
    next: null,
  },
};
