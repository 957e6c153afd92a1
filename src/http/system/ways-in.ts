/** The ways by which calls come in: which are set up, which are open, and how each went lately. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../foundation/clock.ts';
import { asTrunklineError } from '../../foundation/errors.ts';
import type { WayInTimes } from '../../foundation/metrics/way-in-metrics.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { nameSchemas } from '../server/named-schemas.ts';

/** One way in, as the API shows it. */
export const wayInSchema = z.object({
  id: z.string().describe('`twilio_webhook`, a carrier’s name, `ari` or `sip_registration`'),
  name: z.string(),
  configured: z.boolean().describe('Its settings are set; those that need none are configured'),
  open: z.boolean().nullable().describe('Takes calls now; null = that cannot be told'),
  protection: z
    .enum(['secret', 'addresses', 'local', 'nobody'])
    .nullable()
    .describe('`local`: only from this machine, as no secret is set; `nobody`: whoever reaches it; null = not asked'),
  settings: z.array(z.string()).describe('The settings that open and protect it'),
  workedAt: z.string().nullable().describe('ISO 8601; null = not since the start'),
  failure: z
    .object({ at: z.string(), reason: z.string().describe('A code of the errors, or a few words') })
    .nullable()
    .describe('The latest one since the start'),
  isFailing: z.boolean().describe('It does not work now, for all that is known'),
});

nameSchemas({ WayIn: wayInSchema });

type WayIn = z.infer<typeof wayInSchema>;

/** What `GET /v1/system` reads ways in from. */
export interface WaysInSources {
  readonly rows: readonly WayInRow[];
  readonly settings: Settings;
  readonly metrics: Metrics;
}

/** A way in, as the part says that brings it. */
export interface WayInRow {
  readonly id: string;
  /** As people call it. */
  readonly name: string;
  /** One of each list must be set. */
  readonly opens?: readonly (readonly (keyof Settings)[])[];
  readonly protects?: keyof Settings;
  /** Gauge that says whether it is connected. */
  readonly gauge?: 'ariConnected' | 'sipRegistered';
  /** By addresses, not by a secret. */
  readonly byAddress?: true;
  /** The route of its handshakes, or of its webhook: these are refused before there is a leg that could say so. */
  readonly route?: string;
}

/** Strangers try routes with wrong signatures. What has worked fails when it fails so often in a row. */
const FAILURES_IN_A_ROW = 3;

/** All of them, in the order of the guide. */
export async function describeWaysIn(sources: WaysInSources): Promise<WayIn[]> {
  return Promise.all(sources.rows.map((row) => describe(row, sources)));
}

async function describe(row: WayInRow, { settings, metrics }: WaysInSources): Promise<WayIn> {
  const { workedAt, failure } = metrics.waysIn.of(row.id);
  const isOpened = (row.opens ?? []).every((names) => names.some((name) => isSet(settings[name])));
  const isProtected = row.protects !== undefined && isSet(settings[row.protects]);
  return {
    id: row.id,
    name: row.name,
    configured: isOpened && (row.opens !== undefined || isProtected),
    open: isOpened && (row.gauge === undefined || (await readGauge(metrics[row.gauge])) === 1),
    protection: protectionOf(row, isProtected, settings),
    settings: [...(row.opens ?? []).flat(), ...(row.protects === undefined ? [] : [row.protects])],
    workedAt: workedAt?.toISOString() ?? null,
    failure: failure === null ? null : { at: failure.at.toISOString(), reason: failure.reason },
    isFailing: isFailing(row, metrics.waysIn.of(row.id)),
  };
}

/** A connection of our own fails at once. */
function isFailing({ gauge }: WayInRow, { workedAt, failure }: WayInTimes): boolean {
  const inARow = failure?.inARow ?? 0;
  return gauge === undefined && workedAt !== null ? inARow >= FAILURES_IN_A_ROW : inARow > 0;
}

function protectionOf(row: WayInRow, isProtected: boolean, settings: Settings): WayIn['protection'] {
  if (row.protects === undefined) return null;
  if (row.byAddress) return isProtected ? 'addresses' : 'nobody';
  if (isProtected) return 'secret';
  return settings.ALLOW_ANONYMOUS ? 'nobody' : 'local';
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== '' && value !== 0 && value !== false;
}

async function readGauge(gauge: Metrics['ariConnected']): Promise<number> {
  return (await gauge.get()).values[0]?.value ?? 0;
}

/** Notes the answers of the carriers' routes that are registered after this. */
export function watchCarrierRoutes(
  app: FastifyInstance,
  { rows, metrics, clock }: { rows: readonly WayInRow[]; metrics: Pick<Metrics, 'waysIn'>; clock: Clock },
): void {
  const wayOfRoute = new Map(rows.flatMap(({ route, id }) => (route === undefined ? [] : [[route, id] as const])));
  const wayOf = (request: FastifyRequest): string | undefined => wayOfRoute.get(request.routeOptions.url ?? '');
  app.addHook('onError', async (request, _reply, error) => {
    const way = wayOf(request);
    if (way !== undefined) metrics.waysIn.failed(way, asTrunklineError(error, 'not understood').code, clock.wall());
  });
  app.addHook('onResponse', async (request, reply) => {
    const way = wayOf(request);
    if (way !== undefined && request.method === 'POST' && reply.statusCode < 400)
      metrics.waysIn.worked(way, clock.wall());
  });
}
