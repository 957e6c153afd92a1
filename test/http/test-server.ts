/** A server whose calls are fakes, for tests of its endpoints. */
import type { FastifyInstance } from 'fastify';
import { WebSocket } from 'ws';
import { CallAnnouncements } from '../../src/calls/admission/call-announcements.ts';
import { CallTokens } from '../../src/calls/admission/tokens.ts';
import { TwimlClient } from '../../src/calls/app/twiml/client.ts';
import { Handovers } from '../../src/calls/app/twiml/handovers.ts';
import type { CallTranscript } from '../../src/calls/call-transcripts.ts';
import type { CallView } from '../../src/calls/call-view.ts';
import { Feed } from '../../src/calls/feed/feed.ts';
import type { TranscriptItem } from '../../src/calls/feed/transcript.ts';
import type { SocketAdmission } from '../../src/calls/socket-admission.ts';
import { assistRoutes } from '../../src/carriers/asterisk/assist-routes.ts';
import { asteriskRoutes } from '../../src/carriers/asterisk/routes.ts';
import { genesysRoutes } from '../../src/carriers/audiohook/routes.ts';
import { announcementRoutes } from '../../src/carriers/audiosocket/announcement-routes.ts';
import type { FlowState } from '../../src/flows/file/flow-folder.ts';
import type { FlowPrompts } from '../../src/flows/prompts/flow-prompts.ts';
import { flowPromptRoutes } from '../../src/flows/routes/flow-prompts.ts';
import { flowRoutes } from '../../src/flows/routes/flows.ts';
import { schemaRoutes } from '../../src/flows/routes/schemas.ts';
import { TrunklineError } from '../../src/foundation/errors.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import type { Settings } from '../../src/foundation/settings/settings.ts';
import { findDepartures } from '../../src/gateway/departures.ts';
import { PARTS } from '../../src/gateway/parts.ts';
import { createServer, type OtherGateways } from '../../src/gateway/server.ts';
import type { Dialer } from '../../src/http/calls/dial.ts';
import type { EngineHealth, GatewayHealth } from '../../src/http/health.ts';
import type { Recognisers } from '../../src/http/models.ts';
import type { SystemSources } from '../../src/http/system/system.ts';
import { Listeners } from '../../src/listening/listeners.ts';
import { waysInOf } from '../../src/parts/lists.ts';
import type { OpenPart, Part } from '../../src/parts/part.ts';
import { MAIN_TENANT, type Services } from '../../src/parts/services.ts';
import type { Dialect } from '../../src/protocols/dialect.ts';
import { Recordings } from '../../src/recordings/recordings.ts';
import { Translator } from '../../src/recordings/translate.ts';
import { CallUpkeep } from '../../src/records/call-upkeep.ts';
import { Records } from '../../src/records/records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import type { SoundStore } from '../../src/records/sound/sound-store.ts';
import type { People } from '../../src/records/users/people.ts';
import { openSpeech, type Speech } from '../../src/speech/speech.ts';
import { FakeClock } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';
import { FakePeople } from '../fakes/people.ts';
import type { FakeVoice } from '../fakes/voice.ts';
import { callView } from '../helpers/call-view.ts';
import { KEPT_AS_IT_IS } from '../helpers/kept-as-it-is.ts';
import { readSettings } from '../helpers/settings.ts';

/** Calls that do what the test says. */
export class FakeCalls {
  readonly views: CallView[] = [];
  readonly captions = new Map<string, TranscriptItem[]>();
  readonly hungUp: string[] = [];
  readonly voices = new Map<string, FakeVoice>();
  readonly accepted: (SocketAdmission & { socket: WebSocket; dialect: Dialect; carrier: string })[] = [];
  readonly tokens: CallTokens;
  refusal: TrunklineError | null = null;
  /** Names of flows that there are. */
  readonly flows: string[] = [];

  readonly handovers: Handovers;
  readonly twiml: TwimlClient;

  constructor(clock: FakeClock, twiml: TwimlClient) {
    this.tokens = new CallTokens({ clock });
    this.handovers = new Handovers(clock);
    this.twiml = twiml;
  }

  admit(): void {
    if (this.refusal !== null) throw this.refusal;
  }

  readonly audioHooks: { readonly organizationId: string | null; readonly trusted: boolean }[] = [];

  accept(socket: WebSocket, dialect: Dialect, admission: SocketAdmission): void {
    this.accepted.push({ socket, dialect, carrier: dialect.carrier, ...admission });
  }

  list(): CallView[] {
    return this.views;
  }

  get(id: string): CallView | undefined {
    return this.views.find((view) => view.id === id);
  }

  async transcript(id: string): Promise<CallTranscript | undefined> {
    const items = this.captions.get(id);
    return items && { items, names: this.get(id)?.names ?? { inbound: null, outbound: null } };
  }

  voice(id: string): FakeVoice | undefined {
    return this.voices.get(id);
  }

  /** With which parameters channels of Asterisk were listened to. */
  readonly assisted: Readonly<Record<string, string>>[] = [];

  async assist(channel: string, parameters: Readonly<Record<string, string>>): Promise<{ callId: string }> {
    this.assisted.push(parameters);
    return { callId: `${channel}.1` };
  }

  /** Whom was called, and how. */
  readonly outgoing: DialRequest[] = [];

  async dial(request: DialRequest): Promise<{ callId: string }> {
    this.outgoing.push(request);
    const callId = `out-${this.outgoing.length}`;
    const { from, to } = request;
    this.views.push({
      ...liveCall(callId),
      carrier: 'sip',
      from,
      to,
      state: 'dialing',
      tracks: [],
      durationMs: 0,
    });
    return { callId };
  }

  /** Who took over calls from their app, or gave them back. */
  readonly muted: { readonly id: string; readonly isMuted: boolean; readonly by: string }[] = [];

  muteApp(id: string, isMuted: boolean, by: string): boolean {
    if (this.get(id)?.state !== 'live') return false;
    this.muted.push({ id, isMuted, by });
    return true;
  }

  /** Which languages were named; one that begins with `x` is not understood. */
  readonly named: { readonly id: string; readonly language: string }[] = [];

  setLanguage(id: string, language: string): boolean {
    if (this.get(id)?.state !== 'live') return false;
    if (language.startsWith('x')) throw new TrunklineError('unsupported_language', 'language: not understood');
    this.named.push({ id, language });
    return true;
  }

  /** What was wanted of recordings. */
  readonly recordings: { readonly id: string; readonly state: string }[] = [];
  /** Whether there is a folder for sound. */
  keepsSound = true;

  setRecording(id: string, state: string): boolean | undefined {
    if (this.get(id)?.state !== 'live') return undefined;
    this.recordings.push({ id, state });
    return this.keepsSound;
  }

  hangup(id: string): boolean {
    if (this.get(id)?.state !== 'live') return false;
    this.hungUp.push(id);
    return true;
  }
}

type DialRequest = Parameters<Dialer['dial']>[0];

export interface TestServer {
  readonly app: FastifyInstance;
  readonly calls: FakeCalls;
  readonly announced: CallAnnouncements;
  readonly feed: Feed;
  readonly clock: FakeClock;
  /** What the system view is told; a test puts something else in its place. */
  readonly system: SystemSources;
  readonly metrics: Metrics;
  /** Files of FLOWS_DIR; a test adds some. */
  readonly flowFiles: FlowState[];
  readonly logLines: string[];
  readonly health: {
    draining: boolean;
    records: string | null;
    engine: EngineHealth;
    finalEngine: GatewayHealth['finalEngine'];
    gpuName: string | null;
    voice: string | null;
    recognisers: Recognisers;
    turnModel: string | null;
    warnings: readonly string[];
  };
  /** What speaks, and what understands recordings. */
  readonly engine: FakeEngine;
  readonly recordings: Recordings;
  readonly listeners: Listeners;
  readonly speech: Speech;
  /** Null = nothing is kept. */
  readonly kept: CallUpkeep | null;
}

/** The other gateways of a cluster, as a test says they are. */
export type OthersOfTest = OtherGateways;

/** A path at which there is no program. */
const NOWHERE = '/nonexistent/ffmpeg';

/**
 * A server with `environment` over the defaults, not listening, with a program for what ffmpeg does and `more` parts
 * than a gateway has. The caller closes `app`.
 */
export async function startServer(
  environment: Readonly<Record<string, string>> = {},
  ffmpeg = NOWHERE,
  people: People = new FakePeople(),
  sound: SoundStore | null = null,
  database: RecordsDatabase | null = null,
  openPrompts: (speech: Speech) => Promise<FlowPrompts | null> = async () => null,
  others: OthersOfTest | null = null,
  more: readonly Part[] = [],
): Promise<TestServer> {
  const settings = readSettings(environment);
  const clock = new FakeClock();
  const feed = new Feed({ history: settings.FEED_HISTORY, epoch: 'e' });
  const metrics = new Metrics();
  const logLines: string[] = [];
  const log = createLog('debug', { write: (line: string) => void logLines.push(line) });
  const calls = new FakeCalls(clock, new TwimlClient({ settings, clock, metrics, log }));
  const engine: EngineHealth = {
    state: 'ready',
    ready: 1,
    workers: 1,
    provider: 'cpu',
    devices: ['cpu'],
    models: { asr: 'tone', vad: 'tone', tts: 'tone-1' },
  };
  const health = {
    draining: false,
    engine,
    finalEngine: null,
    records: null as string | null,
    gpuName: null,
    voice: 'rms',
    recognisers: { live: null, final: null },
    turnModel: null,
    warnings: [] as readonly string[],
  };
  const flowFiles: FlowState[] = [];
  const speaker = new FakeEngine(clock);
  const recordings = new Recordings({ settings, engine: speaker, clock, metrics });
  const translator = new Translator({ settings, clock });
  const speech = await openSpeech({ settings, engine: speaker, metrics, clock, log });
  const list = [...PARTS, ...more];
  const system = idleSystem(settings, list);
  const kept = database && openKept(database, { settings, feed, speech, clock, log, metrics, calls });
  const isDraining = () => health.draining;
  const listeners = new Listeners({ engine: speaker, settings, metrics, clock, isDraining });
  const announced = new CallAnnouncements({ clock });
  const parts = await openParts(list, {
    announced,
    settings,
    clock,
    log,
    metrics,
    lead: null,
    oneUse: others?.oneUse ?? null,
    engine: speaker,
    registry: calls,
    webSockets: calls,
    feed: { of: () => feed },
    store: { of: () => kept },
    speech,
    translator,
    prompts: await openPrompts(speech),
    flowFiles,
    apps: calls,
    flows: {
      named: (name) => (calls.flows.includes(name) ? { name, version: '00000000', open: unopened } : null),
      calledAt: () => null,
    },
    listeners,
    recordings,
    findCall: async (id) => calls.get(id),
    isDraining,
  });
  const app = await createServer({
    settings,
    people,
    others,
    records: null,
    stored: kept?.records.calls ?? null,
    feedArchive: kept?.records.calls ?? null,
    registry: calls,
    transcripts: calls,
    parts,
    feed,
    recordings,
    translator,
    engine: speaker,
    listeners,
    sound,
    kept,
    findCall: async (id) => calls.get(id),
    health: () => health,
    system,
    speech,
    ffmpeg,
    metrics,
    log,
    clock,
  });
  app.addHook('onClose', async () => void (await Promise.all(parts.map((part) => part.release?.()))));
  const told = { system, listeners, feed, clock, metrics, logLines, health, flowFiles };
  return { app, calls, announced, ...told, engine: speaker, recordings, speech, kept };
}

interface TestServices extends Omit<Services, 'registry'> {
  readonly registry: FakeCalls;
  readonly announced: CallAnnouncements;
  readonly prompts: FlowPrompts | null;
  readonly flowFiles: readonly FlowState[];
}

/** All parts. Those with connections of their own are replaced by what a test can see. */
async function openParts(
  list: readonly Part[],
  { announced, prompts, flowFiles, ...services }: TestServices,
): Promise<OpenPart[]> {
  const { settings, registry: calls, clock, speech, store } = services;
  const replaced: Readonly<Record<string, () => OpenPart>> = {
    audiohook: () => ({
      carrierRoutes: (app, { access }) => {
        const audioHook = { accept: (_socket: WebSocket, asked: AudioHookAsked) => calls.audioHooks.push(asked) };
        void app.register(genesysRoutes, { ...services, audioHook, access });
      },
    }),
    asterisk: () => ({
      carrierRoutes: (app, { access }) => void app.register(asteriskRoutes, { ...services, access }),
      routes: (app, { forwarding }) =>
        void app.register(assistRoutes, {
          assistant: settings.ARI_URL === '' ? null : calls,
          fromOthers: forwarding === null ? undefined : (...asked) => forwarding.passOnToAny(...asked, 502),
        }),
    }),
    audiosocket: () => ({
      carrierRoutes: (app, { access }) => void app.register(announcementRoutes, { settings, announced, access }),
    }),
    flows: () => ({
      carrierRoutes: (app) => void app.register(schemaRoutes),
      routes: (app, { trail }) => {
        const analytics = store.of(MAIN_TENANT)?.records.flows ?? null;
        void app.register(flowRoutes, { flows: () => flowFiles, analytics, trail, clock });
        void app.register(flowPromptRoutes, { prompts, speech });
      },
    }),
    sip: () => (settings.SIP_PORT === 0 ? {} : { dialer: calls }),
  };
  return Promise.all(
    list
      .filter(({ name }) => name in replaced || !['hints', 'tracing'].includes(name))
      .map(async (part) => replaced[part.name]?.() ?? part.open({ ...services, registry: calls as never })),
  );
}

type AudioHookAsked = FakeCalls['audioHooks'][number];

function unopened(): never {
  throw new Error('no flow is opened here');
}

type KeptParts = Omit<ConstructorParameters<typeof CallUpkeep>[0], 'records' | 'sentences' | 'sound'> & {
  readonly speech: Speech;
  readonly calls: FakeCalls;
};

/** Records in `database` of what the feed tells. */
function openKept(database: RecordsDatabase, { calls, speech, ...parts }: KeptParts): CallUpkeep {
  const records = new Records({ ...KEPT_AS_IT_IS, ...parts, database, folder: null });
  records.follow(parts.feed, { get: (id) => calls.get(id), parameters: () => undefined });
  return new CallUpkeep({ ...parts, records, sentences: speech, sound: null });
}

/** Listens on a free loopback port. Returns `http://127.0.0.1:<port>`. */
export async function listen(app: FastifyInstance): Promise<string> {
  return app.listen({ host: '127.0.0.1', port: 0 });
}

/** A live call. */
export function liveCall(id: string): CallView {
  return callView(id, { from: '+14155550100', durationMs: 1280 });
}

/**
 * The status that the WebSocket handshake at `url` (http or ws) is answered with; 101 = let in (and
 * closed again).
 */
export function upgradeStatus(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
    socket.on('unexpected-response', (_request, response) => {
      response.resume();
      resolve(response.statusCode);
    });
    socket.on('open', () => {
      socket.close();
      resolve(101);
    });
    socket.on('error', () => undefined);
  });
}

/** A system without engines, apps and records. */
export function idleSystem(settings: Settings = readSettings({}), parts: readonly Part[] = PARTS): SystemSources {
  return {
    engines: () => ({ engines: [], queue: [], servers: [] }),
    liveCalls: () => 0,
    callsMax: () => 40,
    storedToday: async () => 0,
    apps: { list: () => [], test: async () => null },
    departures: findDepartures(settings),
    waysIn: waysInOf(parts),
    gateways: () => [],
    records: async () => null,
    checks: async () => [],
  };
}
