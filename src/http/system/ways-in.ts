/** The ways by which calls come in: which are set up, which are open, and how each went lately. */
import type { FastifyInstance } from 'fastify';
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
  readonly settings: Settings;
  readonly metrics: Metrics;
}

interface Row {
  readonly id: string;
  readonly name: string;
  /** One of each list must be set. */
  readonly opens?: readonly (readonly (keyof Settings)[])[];
  readonly protects?: keyof Settings;
  /** Gauge that says whether it is connected. */
  readonly gauge?: 'ariConnected' | 'sipRegistered';
  /** By addresses, not by a secret. */
  readonly byAddress?: true;
}

const SIP_PORTS = ['SIP_PORT', 'SIP_TLS_PORT'] as const satisfies readonly (keyof Settings)[];

const ROWS: readonly Row[] = [
  { id: 'twilio_webhook', name: 'Twilio webhook', protects: 'TWILIO_AUTH_TOKEN' },
  { id: 'twilio', name: 'Twilio media', protects: 'TWILIO_AUTH_TOKEN' },
  { id: 'signalwire', name: 'SignalWire', protects: 'CARRIER_TOKEN' },
  { id: 'telnyx', name: 'Telnyx', protects: 'CARRIER_TOKEN' },
  { id: 'plivo', name: 'Plivo', protects: 'PLIVO_AUTH_TOKEN' },
  { id: 'vonage', name: 'Vonage', protects: 'CARRIER_TOKEN' },
  { id: 'exotel', name: 'Exotel', protects: 'CARRIER_TOKEN' },
  { id: 'genesys', name: 'Genesys AudioHook', protects: 'GENESYS_API_KEY' },
  { id: 'ari', name: 'Asterisk ARI', opens: [['ARI_URL']], gauge: 'ariConnected' },
  { id: 'asterisk', name: 'Asterisk chan_websocket', protects: 'ASTERISK_PASSWORD' },
  {
    id: 'audiosocket',
    name: 'AudioSocket',
    opens: [['AUDIOSOCKET_PORT']],
    protects: 'AUDIOSOCKET_ALLOW',
    byAddress: true,
  },
  { id: 'sip', name: 'SIP', opens: [SIP_PORTS], protects: 'SIP_ALLOW', byAddress: true },
  {
    id: 'sip_registration',
    name: 'SIP registration',
    opens: [SIP_PORTS, ['SIP_REGISTRAR', 'SIP_TRUNKS']],
    gauge: 'sipRegistered',
  },
  { id: 'browser', name: 'Browser phone', protects: 'API_KEYS' },
];

/** Strangers try routes with wrong signatures. What has worked fails when it fails so often in a row. */
const FAILURES_IN_A_ROW = 3;

/** All of them, in the order of the guide. */
export async function describeWaysIn(sources: WaysInSources): Promise<WayIn[]> {
  return Promise.all(ROWS.map((row) => describe(row, sources)));
}

async function describe(row: Row, { settings, metrics }: WaysInSources): Promise<WayIn> {
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
function isFailing({ gauge }: Row, { workedAt, failure }: WayInTimes): boolean {
  const inARow = failure?.inARow ?? 0;
  return gauge === undefined && workedAt !== null ? inARow >= FAILURES_IN_A_ROW : inARow > 0;
}

function protectionOf(row: Row, isProtected: boolean, settings: Settings): WayIn['protection'] {
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

/** Handshakes and webhooks are refused before there is a leg that could tell. */
const WAY_OF_ROUTE = new Map([
  ['/twilio/voice', 'twilio_webhook'],
  ['/twilio/media', 'twilio'],
  ['/asterisk/media', 'asterisk'],
  ['/signalwire/media', 'signalwire'],
  ['/telnyx/media', 'telnyx'],
  ['/plivo/media', 'plivo'],
  ['/vonage/media', 'vonage'],
  ['/exotel/media', 'exotel'],
  ['/genesys/media', 'genesys'],
]);

/** Notes the answers of the carriers' routes that are registered after this. */
export function watchCarrierRoutes(
  app: FastifyInstance,
  { metrics, clock }: { metrics: Pick<Metrics, 'waysIn'>; clock: Clock },
): void {
  app.addHook('onError', async (request, _reply, error) => {
    const way = WAY_OF_ROUTE.get(request.routeOptions.url ?? '');
    if (way !== undefined) metrics.waysIn.failed(way, asTrunklineError(error, 'not understood').code, clock.wall());
  });
  app.addHook('onResponse', async (request, reply) => {
    const isWebhook = request.routeOptions.url === '/twilio/voice';
    if (isWebhook && reply.statusCode < 400) metrics.waysIn.worked('twilio_webhook', clock.wall());
  });
}
