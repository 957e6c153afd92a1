/** The HTTP server: its routes are opened, guarded and described here and nowhere else. */
import websocket from '@fastify/websocket';
import { type FastifyInstance, fastify } from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { OneUseStore, UsedKeys } from '../calls/admission/shared-one-use.ts';
import type { CallView } from '../calls/call-view.ts';
import type { FeedArchive } from '../calls/feed/archive.ts';
import type { Feed } from '../calls/feed/feed.ts';
import type { CallRegistry } from '../calls/registry.ts';
import type { ForwardClient } from '../cluster/forward/forward-client.ts';
import type { Owners } from '../cluster/forward/owners.ts';
import type { Engine } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { ServerCertificate } from '../foundation/tls/server-certificate.ts';
import { Access } from '../http/access/access.ts';
import { CallVisibility } from '../http/access/call-visibility.ts';
import type { SharedAccess } from '../http/access/cluster-access.ts';
import { chooseProtocol } from '../http/access/credentials.ts';
import { guardRoutes } from '../http/access/guard.ts';
import { signInRoutes, whoAmIRoutes } from '../http/access/sign-in.ts';
import { userRoutes } from '../http/access/user-routes.ts';
import { AuditTrail } from '../http/calls/audit-trail.ts';
import type { KeptCalls } from '../http/calls/call-directory.ts';
import { type Calls, callRoutes } from '../http/calls/calls.ts';
import { captionRoutes } from '../http/calls/captions.ts';
import { phoneRoutes } from '../http/calls/phone.ts';
import { FeedReaders } from '../http/calls/readers.ts';
import { messageSoundRoutes, type SoundRoutesContext, soundRoutes } from '../http/calls/sound.ts';
import { takeOverRoutes } from '../http/calls/take-over.ts';
import type { TranscriptSource } from '../http/calls/transcripts.ts';
import { Forwarding } from '../http/forward/forwarding.ts';
import { gatewayRoute } from '../http/forward/gateway-route.ts';
import { type GatewayHealth, healthRoutes, metricRoutes } from '../http/health.ts';
import { nameOfFinals } from '../http/models.ts';
import { ClientFamilies } from '../http/server/client-families.ts';
import { connectionsThatFit, limitConnections } from '../http/server/connections.ts';
import { describeRoutes, docsRoutes } from '../http/server/docs.ts';
import { takeEmptyBodies } from '../http/server/empty-bodies.ts';
import {
  answerBadHandshakes,
  answerUnreadable,
  Failures,
  requestValidator,
  routeNotFound,
} from '../http/server/errors.ts';
import { limitMessages } from '../http/server/message-limits.ts';
import { passOverOtherUpgrades } from '../http/server/other-upgrades.ts';
import { closeSocketsOn, limitArrival, logRequests, REQUEST_TIMEOUT_MS } from '../http/server/request-hooks.ts';
import { REQUEST_ID_HEADER, RequestIds } from '../http/server/request-ids.ts';
import { noticeOtherSpeech, renewTls, speakTls } from '../http/server/tls.ts';
import { readAwayUnread } from '../http/server/unread-bodies.ts';
import { sendUpgradeHeaders } from '../http/server/upgrade-headers.ts';
import { createSpeechContext, speechRoutes } from '../http/speech/speech.ts';
import { CallWatch } from '../http/system/call-watch.ts';
import { type SystemSources, systemRoutes } from '../http/system/system.ts';
import { watchCarrierRoutes } from '../http/system/ways-in.ts';
import { transcriptionRoutes } from '../http/transcriptions/transcriptions.ts';
import type { Listeners } from '../listening/listeners.ts';
import type { OpenPart } from '../parts/part.ts';
import type { HttpServices } from '../parts/services.ts';
import type { Recordings } from '../recordings/recordings.ts';
import type { Translator } from '../recordings/translate.ts';
import type { CallUpkeep } from '../records/call-upkeep.ts';
import type { Records } from '../records/records.ts';
import type { SoundStore } from '../records/sound/sound-store.ts';
import type { StoredCalls } from '../records/stored-calls.ts';
import type { People } from '../records/users/people.ts';
import type { Speech } from '../speech/speech.ts';

/** Largest body of a request. */
const BODY_MAX_BYTES = 65_536;
/** The id of a call may consist of the carrier's ids of a call and a stream. */
const CALL_ID_MAX_CHARS = 300;

/** What the server needs of the other gateways of its cluster. */
export interface OtherGateways {
  /** Of this gateway. */
  readonly id: string;
  readonly access: SharedAccess;
  readonly owners: Pick<Owners, 'otherOwnerOf' | 'others'>;
  readonly client: Pick<ForwardClient, 'send'>;
  readonly oneUse: OneUseStore & UsedKeys;
}

interface ServerOptions {
  readonly settings: Settings;
  readonly registry: Calls & Pick<CallRegistry, 'admit' | 'tokens' | 'muteApp' | 'setRecording'>;
  /** What was said in calls, live and stored. */
  readonly transcripts: TranscriptSource;
  /** Calls that memory no longer has; null = nothing is kept. */
  readonly stored: Pick<StoredCalls, 'get' | 'latestAgents'> | null;
  /** The parts of the gateway, open. */
  readonly parts: readonly OpenPart[];
  /** Who may sign in. */
  readonly people: People;
  /** The other gateways; absent or null = there are none. */
  readonly others?: OtherGateways | null;
  /** What the feed's memory no longer has; null = nothing is kept. */
  readonly feedArchive: FeedArchive | null;
  readonly feed: Pick<
    Feed,
    'subscribe' | 'subscribeOwn' | 'watchNotices' | 'reaches' | 'isBeyond' | 'isWhole' | 'publish' | 'forget'
  >;
  /** Null = nothing is kept of calls. */
  readonly records: Records | null;
  readonly recordings: Recordings;
  readonly translator: Translator;
  readonly engine: Engine;
  /** Counts and admits sessions for live audio that are no calls. */
  readonly listeners: Listeners;
  /** What is kept of calls; null = nothing. */
  readonly kept: (KeptCalls & Pick<CallUpkeep, 'sweeper'>) | null;
  /** Recorded sound of calls; null = none is kept. */
  readonly sound: Pick<SoundStore, 'read'> | null;
  /** A call, live or stored. */
  readonly findCall: (id: string) => Promise<CallView | undefined>;
  readonly speech: Speech;
  /** In place of `ffmpeg` on PATH, which encodes speech. */
  readonly ffmpeg?: string;
  /** What the System view of the page shows. */
  readonly system: SystemSources;
  /** How the process is now. */
  readonly health: () => GatewayHealth;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
}

/**
 * The HTTP server of a gateway, not listening yet. `close()` ends its caption readers and WebSockets too.
 * @throws ConfigError when TLS_CERT and TLS_KEY cannot be used
 */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { settings, clock, log, metrics, parts } = options;
  const certificate = await ServerCertificate.open({ settings, clock, log });
  metrics.certificateExpires.watch(() => certificate?.expiresSeconds ?? 0);
  const families = new ClientFamilies(parts.flatMap(({ family = [] }) => family));
  const failures = new Failures({ families, clock, log, metrics });
  const requestIds = new RequestIds({ metrics });
  const app = fastify({
    logger: false,
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: Math.max(settings.UPLOAD_TIMEOUT_MS, REQUEST_TIMEOUT_MS),
    forceCloseConnections: true,
    return503OnClosing: false,
    routerOptions: { maxParamLength: CALL_ID_MAX_CHARS },
    genReqId: (message) => requestIds.of(message),
    rewriteUrl: rewriterOf(parts),
    frameworkErrors: (error, request, reply) => void failures.answer(error, request, reply),
    clientErrorHandler: answerUnreadable,
    ...speakTls(certificate),
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(requestValidator);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error, request, reply) => failures.answer(error, request, reply));
  takeEmptyBodies(app);
  app.setNotFoundHandler((request) => {
    throw routeNotFound(request);
  });
  await app.register(websocket, {
    options: {
      maxPayload: settings.MESSAGE_MAX_BYTES,
      perMessageDeflate: false,
      handleProtocols: chooseProtocol,
      // One message of each client a turn of the event loop: thousands that came together would hold up all calls.
      allowSynchronousEvents: false,
    },
    errorHandler: (error, socket) => failures.close(error, socket),
    preClose: closeSocketsOn(clock),
  });
  requestIds.sayInUpgrades(app);
  sendUpgradeHeaders(app);
  answerBadHandshakes(app, (message) => requestIds.of(message));
  limitMessages(app, settings.MESSAGE_MAX_BYTES);
  await describeRoutes(app);
  families.watch(app);
  logRequests(app, log);
  limitArrival(app, clock);
  readAwayUnread(app);
  limitConnections(app, { max: await readConnectionsMax(options), clock, log, metrics });
  passOverOtherUpgrades(app);
  await openRoutes(app, options, { failures, families });
  renewTls(app, certificate);
  noticeOtherSpeech(app, { clock, log });
  return app;
}

/** Which path answers a request: the first that a part names, or its own. */
function rewriterOf(parts: readonly OpenPart[]): (request: { readonly url?: string | undefined }) => string {
  const rewriting = parts.filter(({ rewrite }) => rewrite !== undefined);
  return ({ url = '/' }) => {
    for (const part of rewriting) {
      const path = part.rewrite?.(url) ?? null;
      if (path !== null) return path;
    }
    return url;
  };
}

async function readConnectionsMax({ settings, log, metrics }: ServerOptions): Promise<number> {
  const wanted = settings.CONNECTIONS_MAX;
  const max = connectionsThatFit(wanted, await metrics.readDescriptors());
  if (max < wanted)
    log.warn({ connections: max }, `CONNECTIONS_MAX=${wanted} needs more file descriptors (ulimit -n, LimitNOFILE)`);
  return max;
}

const SAFE_HEADERS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' } as const;

/** Opens every route, with the credentials that it requires. */
async function openRoutes(app: FastifyInstance, options: ServerOptions, answering: Answering): Promise<void> {
  const { settings, health, metrics, clock, speech, parts, people, others, kept } = options;
  const http = await openHttp(app, options, answering);
  const { access, visibility, forwarding, trail, readers } = http;
  const speechHealth = () => ({
    depth: http.speech.service.depth,
    cached: speech.cachedPrompts(),
    voices: speech.voiceNames().map(({ name }) => name),
  });
  await app.register(healthRoutes, { health, speech: speechHealth, settings, access });
  watchCarrierRoutes(app, { rows: options.system.waysIn, metrics, clock });
  for (const part of parts) part.carrierRoutes?.(app, http);
  await app.register(signInRoutes, { access });
  await app.register((guarded, _options, done) => {
    guardRoutes(guarded, { access, visibility, forwarding });
    void guarded.register(whoAmIRoutes, { access });
    if (others) void guarded.register(gatewayRoute, { access, id: others.id });
    void guarded.register(userRoutes, { access, settings, people, audit: kept?.records.audit ?? null, clock });
    openCalls(guarded, options, http);
    void guarded.register(captionRoutes, { readers, clock, visibility, trail });
    openRecordings(guarded, options, http);
    const recognisers = () => health().recognisers;
    void guarded.register(speechRoutes, { settings, clock, context: http.speech, speech, recognisers });
    for (const part of parts) part.routes?.(guarded, http);
    openSystem(guarded, options);
    void guarded.register(metricRoutes, { metrics });
    void guarded.register(docsRoutes);
    done();
  });
}

/** How failures are answered, and to whom. */
type Answering = Pick<HttpServices, 'failures' | 'families'>;

/** What routes share. */
async function openHttp(app: FastifyInstance, options: ServerOptions, answering: Answering): Promise<HttpServices> {
  const { settings, registry: calls, stored, feed, health } = options;
  const access = await openAccess(app, options);
  const visibility = new CallVisibility({ access, calls, stored, feed });
  await visibility.learnStored();
  return {
    access,
    visibility,
    trail: openTrail(options, access),
    forwarding: openForwarding(options, access),
    readers: openReaders(app, options),
    ...answering,
    speech: createSpeechContext({ ...options, ...answering }),
    voices: options.speech,
    translator: options.translator,
    recogniserName: () => nameOfFinals(settings, health().recognisers),
  };
}

/** The routes of recordings. */
function openRecordings(app: FastifyInstance, options: ServerOptions, http: HttpServices): void {
  const { settings, recordings, engine, health } = options;
  const isDraining = () => health().draining;
  void app.register(transcriptionRoutes, { context: { ...http, recordings, settings, engine, isDraining } });
}

/** Who may come in; each request is looked at before it is routed. */
async function openAccess(app: FastifyInstance, options: ServerOptions): Promise<Access> {
  const { settings, people, kept, others, clock, log } = options;
  const audit = kept?.records.audit ?? null;
  const access = new Access({ settings, people, audit, clock, log, shared: others?.access ?? null });
  await access.restoreSessions();
  app.addHook('onClose', () => people.close());
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ [REQUEST_ID_HEADER]: request.id, ...SAFE_HEADERS });
    if (request.ws && request.routeOptions.config.socket !== true) throw routeNotFound(request);
    const prepared = access.prepare(request);
    if (prepared !== null) await prepared;
    access.refuseForeign(request);
  });
  return access;
}

/** Null = there are no other gateways. */
function openForwarding({ others, registry, metrics }: ServerOptions, access: Access): Forwarding | null {
  if (!others) return null;
  const hasCall = (id: string): boolean => registry.get(id) !== undefined;
  return new Forwarding({ owners: others.owners, client: others.client, access, hasCall, metrics });
}

function openTrail({ kept, registry }: ServerOptions, access: Access): AuditTrail {
  const isLive = (id: string): boolean => registry.get(id)?.state === 'live';
  return new AuditTrail({ access, audit: kept?.records.audit ?? null, isLive });
}

/** The routes of calls. */
function openCalls(
  app: FastifyInstance,
  options: ServerOptions,
  { access, visibility, trail, forwarding }: HttpServices,
): void {
  const { registry, transcripts, parts, kept, feed, clock, metrics } = options;
  const dialer = parts.find((part) => part.dialer)?.dialer ?? null;
  const shared = { transcripts, dialer, visibility, trail, kept, feed, clock, metrics };
  void app.register(callRoutes, { ...shared, calls: registry });
  void app.register(takeOverRoutes, { calls: registry, access });
  const sound = { ...soundContext(options, trail), fromOthers: fromOthers(forwarding, 404) };
  void app.register(soundRoutes, sound);
  void app.register(messageSoundRoutes, sound);
  void app.register(phoneRoutes, { registry, access, feed });
}

/** `refusal` = the status with which gateways answer that cannot. */
function fromOthers(forwarding: Forwarding | null, refusal: number): SoundRoutesContext['fromOthers'] {
  return forwarding === null ? undefined : (request, reply) => forwarding.passOnToAny(request, reply, refusal);
}

function soundContext({ registry, sound, findCall, clock }: ServerOptions, trail: AuditTrail): SoundRoutesContext {
  const notePlayed: SoundRoutesContext['notePlayed'] = (request, id) => trail.note(request, 'sound.played', id);
  return { calls: registry, find: findCall, sound, notePlayed, clock };
}

/** The readers of the feed, which end when the server does. */
function openReaders(app: FastifyInstance, options: ServerOptions): FeedReaders {
  const { settings, feed, feedArchive, clock, log, metrics } = options;
  const readers = new FeedReaders({
    feed,
    archive: feedArchive,
    clock,
    log,
    metrics,
    readersMax: settings.FEED_READERS_MAX,
    bufferMaxBytes: settings.SEND_BUFFER_MAX_BYTES,
  });
  app.addHook('preClose', async () => readers.close());
  return readers;
}

/** The routes of the System view. */
function openSystem(app: FastifyInstance, options: ServerOptions): void {
  const { system: sources, feed, speech, health, settings, metrics, clock } = options;
  const watch = new CallWatch({ feed, metrics, clock });
  app.addHook('onClose', async () => watch.close());
  void app.register(systemRoutes, {
    sources,
    health,
    watch,
    prompts: () => speech.promptFigures(),
    settings,
    metrics,
    clock,
  });
}
