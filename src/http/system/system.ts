/** How the server is, for the people who look after it: `GET /v1/system` and what belongs to it. */
import { readFileSync } from 'node:fs';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { AppTestResult } from '../../calls/app/app-test.ts';
import { type AppReach, appAddress } from '../../calls/app/reachability.ts';
import type { Clock } from '../../foundation/clock.ts';
import { packagePath } from '../../foundation/folders/paths.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { REMEDIES, refusesCalls } from '../../foundation/remedies.ts';
import { effectiveSettings } from '../../foundation/settings/effective-settings.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { GatewayHealth } from '../health.ts';
import { errorResponses } from '../server/errors.ts';
import { nameSchemas } from '../server/named-schemas.ts';
import { type CallWatch, LAG_WINDOW_MS } from './call-watch.ts';
import { DiskWatch } from './disk.ts';
import { describeFallbacks, describeRecognisers } from './recognisers.ts';
import { type SystemAnswer, systemSchema } from './schema.ts';
import { describeSipTrunks } from './sip-trunks.ts';
import { describeWaysIn, type WayInRow } from './ways-in.ts';

/** One engine, as the engine client reports it. */
interface EngineState extends Omit<SystemAnswer['engines'][number], 'lastRestart'> {
  readonly lastRestart: { readonly at: Date; readonly reason: string } | null;
}

/** One server of ASR_URL or TTS_URL, as the engine client reports it. */
interface ServerState extends Omit<SystemAnswer['servers'][number], 'lastError' | 'languages'> {
  readonly lastError: { readonly at: Date; readonly message: string } | null;
  readonly languages: readonly string[];
}

/** One line of `trunkline doctor`. */
const finding = z.object({ name: z.string(), status: z.enum(['ok', 'warn', 'fail']), detail: z.string() });

/** What the routes ask the parts of the gateway for. */
export interface SystemSources {
  readonly engines: () => {
    readonly engines: readonly EngineState[];
    readonly queue: readonly SystemAnswer['queue'][number][];
    readonly servers: readonly ServerState[];
  };
  readonly liveCalls: () => number;
  /** Most live calls now. */
  readonly callsMax: () => number;
  /** Stored calls that began today; 0 = none are stored, or they cannot be counted. */
  readonly storedToday: () => Promise<number>;
  readonly apps: { list(): AppReach[]; test(): Promise<AppTestResult | null> };
  /** Where speech, or what was said, leaves this server for. */
  readonly departures: SystemAnswer['departures'];
  /** The ways in of all parts. */
  readonly waysIn: readonly WayInRow[];
  /** What is kept of calls; null = nothing. */
  readonly records: () => Promise<SystemAnswer['records']>;
  readonly gateways: () => SystemAnswer['gateways'];
  /** The checks of `trunkline doctor` that can run beside a gateway. */
  readonly checks: () => Promise<z.infer<typeof finding>[]>;
}

interface SystemOptions {
  readonly sources: SystemSources;
  readonly health: () => GatewayHealth;
  readonly watch: CallWatch;
  readonly prompts: () => SystemAnswer['prompts'];
  readonly settings: Settings;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

const errors = errorResponses(401, 403, 429);
const settingSchema = z.object({
  name: z.string(),
  value: z.string().describe('Secrets are `(set)`'),
  default: z.string(),
  unit: z.string(),
  meaning: z.string(),
  key: z.string().describe('Where it is in trunkline.yaml: `sip.port`'),
  from: z.string().describe('`default`, `environment`, or its place in trunkline.yaml as `path:line:column`'),
  isChanged: z.boolean(),
  isEveryday: z.boolean(),
});

nameSchemas({ SystemCheck: finding, SystemSetting: settingSchema });

/** The routes; for supervisors and admins. */
export const systemRoutes: FastifyPluginCallbackZod<SystemOptions> = (app, options, done) => {
  const { settings, clock } = options;
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
  const disk = new DiskWatch(settings, clock);
  const startedMs = clock.nowMs();
  const startedAt = clock.wall();
  app.get(
    '/v1/system',
    {
      config: { permission: 'system' },
      schema: {
        operationId: 'getSystem',
        summary: 'How the server is: engines, calls, ways in, apps, refusals, disk, records',
        tags: ['operation'],
        response: { 200: systemSchema, ...errors },
      },
    },
    async (): Promise<SystemAnswer> => ({
      version,
      startedAt: startedAt.toISOString(),
      uptimeMs: Math.round(clock.nowMs() - startedMs),
      ...(await describeNow(options)),
      disk: await disk.read(),
    }),
  );

  void app.register(detailRoutes, options);
  done();
};

/** What is not asked for every few seconds. */
const detailRoutes: FastifyPluginCallbackZod<SystemOptions> = (app, { sources, settings }, done) => {
  app.get(
    '/v1/system/settings',
    {
      config: { permission: 'settings' },
      schema: {
        operationId: 'listSystemSettings',
        summary: 'The settings in effect, secrets hidden',
        tags: ['operation'],
        response: { 200: z.object({ data: z.array(settingSchema) }), ...errors },
      },
    },
    () => ({ data: effectiveSettings(settings) }),
  );

  app.get(
    '/v1/system/checks',
    {
      config: { permission: 'system' },
      schema: {
        operationId: 'listSystemChecks',
        summary: 'The checks of `trunkline doctor` that can run beside a server',
        description: 'They start a process for a moment; the answer is that of the last minute.',
        tags: ['operation'],
        response: { 200: z.object({ data: z.array(finding) }), ...errors },
      },
    },
    async () => ({ data: await sources.checks() }),
  );

  app.post(
    '/v1/system/app-test',
    {
      config: { permission: 'system' },
      schema: {
        operationId: 'testApp',
        summary: 'Try once whether the app can be reached',
        description: 'Opens a connection to APP_URL as a call does and closes it, or asks APP_TWIML_URL by GET.',
        tags: ['operation'],
        response: {
          200: z.object({
            reachable: z.boolean().nullable().describe('Null = no app is set'),
            detail: z.string(),
            tookMs: z.int(),
          }),
          ...errors,
        },
      },
    },
    async () =>
      (await sources.apps.test()) ?? { reachable: null, detail: 'neither APP_URL nor APP_TWIML_URL is set', tookMs: 0 },
  );
  done();
};

type Now = Omit<SystemAnswer, 'version' | 'startedAt' | 'uptimeMs' | 'disk'>;

async function describeNow({ sources, health, watch, prompts, settings, metrics }: SystemOptions): Promise<Now> {
  const now = health();
  const { draining, engine, voice, turnModel } = now;
  const { engines, queue, servers } = sources.engines();
  const ready = engine.state === 'ready' || engine.state === 'stopped';
  const records = await sources.records();
  const today = Math.max(watch.today, await sources.storedToday());
  return {
    state: draining ? 'draining' : engine.state === 'failed' ? 'failed' : ready ? 'ready' : 'starting',
    provider: engine.provider,
    models: engine.models === null ? null : { ...engine.models, turn: turnModel },
    recognisers: describeRecognisers(settings, now),
    fallbacks: await describeFallbacks(metrics),
    voice,
    engines: engines.map(({ lastRestart, ...rest }) => ({
      ...rest,
      lastRestart: lastRestart === null ? null : { at: lastRestart.at.toISOString(), reason: lastRestart.reason },
    })),
    queue: [...queue],
    servers: servers.map(({ lastError, languages, ...rest }) => ({
      ...rest,
      lastError: lastError && { ...lastError, at: lastError.at.toISOString() },
      languages: [...languages],
    })),
    calls: { live: sources.liveCalls(), max: sources.callsMax(), peak: watch.peak, today },
    finalLag: { windowMs: LAG_WINDOW_MS, ...watch.finalLag },
    partialsDropped: await totalOf(metrics.partialsDropped),
    waysIn: await describeWaysIn({ rows: sources.waysIn, settings, metrics }),
    sipTrunks: await describeSipTrunks(metrics),
    apps: describeApps(sources.apps.list(), settings),
    refused: await describeRefusals(metrics),
    departures: [...sources.departures],
    records,
    gateways: sources.gateways(),
    prompts: prompts(),
  };
}

/** The app of the settings is there before any call has tried it. */
function describeApps(reached: readonly AppReach[], settings: Settings): SystemAnswer['apps'] {
  const { APP_URL, APP_TWIML_URL } = settings;
  const own = APP_TWIML_URL || APP_URL;
  const ownAddress = own === '' ? null : appAddress(own);
  const isKnown = ownAddress === null || reached.some(({ app }) => app === ownAddress);
  const all: readonly AppReach[] = isKnown
    ? reached
    : [{ app: ownAddress, reachedAt: null, trouble: null }, ...reached];
  return all
    .map(({ app, reachedAt, trouble }) => ({
      app,
      isOwn: app === ownAddress,
      reachedAt: reachedAt?.toISOString() ?? null,
      trouble:
        trouble === null ? null : { ...trouble, since: trouble.since.toISOString(), last: trouble.last.toISOString() },
    }))
    .toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn));
}

async function describeRefusals(metrics: Metrics): Promise<SystemAnswer['refused']> {
  const { values } = await metrics.refused.get();
  return values
    .map(({ labels, value }) => {
      const code = String(labels.code);
      return {
        code,
        count: value,
        refuses: refusesCalls(code) ? ('calls' as const) : ('requests' as const),
        remedy: (REMEDIES as Readonly<Record<string, string>>)[code] ?? null,
      };
    })
    .toSorted((a, b) => a.refuses.localeCompare(b.refuses) || b.count - a.count);
}

async function totalOf(counter: Metrics['partialsDropped']): Promise<number> {
  return (await counter.get()).values.reduce((sum, { value }) => sum + value, 0);
}
