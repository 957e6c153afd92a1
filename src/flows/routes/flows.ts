/** The flows of FLOWS_DIR, their steps, and how calls went through them. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { AuditTrail } from '../../http/calls/audit-trail.ts';
import { noQuery } from '../../http/calls/call-schemas.ts';
import { describe } from '../../http/server/echo.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { goneSignal } from '../../http/server/gone-signal.ts';
import { pageOf, pageQuery, pageSchema } from '../../http/server/pages.ts';
import type { FlowAnalytics, StatisticsRequest } from '../../records/flows/flow-analytics.ts';
import type { FlowStatistics } from '../../records/flows/flow-count.ts';
import type { StepStatistics } from '../../records/flows/step-tally.ts';
import type { FlowState } from '../file/flow-folder.ts';
import { flowDetail, flowStatistics, listedFlow } from './flow-schemas.ts';

/** Where no period is asked for. */
const PERIOD_MS = 7 * 86_400_000;
/** Figures that are counted at the same time: each keeps the database busy for a while. */
const COUNTS_MAX = 4;

const moment = z.iso.datetime({ offset: true }).optional();
const name = z.string().min(1).max(64);
const flowPath = z.object({ name });
const listQuery = pageQuery.extend({ from: moment.describe('Calls that began then or later are counted: 7 days ago') });
const statisticsQuery = z.strictObject({
  from: moment.describe('Calls that began then or later: 7 days before `to`'),
  to: moment.describe('Calls that began before: now'),
  version: z.string().min(1).max(64).optional().describe('Only calls that went through this version'),
});

/** What the routes of flows need. */
interface FlowRoutesOptions {
  /** The flows as they are now. */
  readonly flows: () => readonly FlowState[];
  /** Null = nothing is kept of calls. */
  readonly analytics: FlowAnalytics | null;
  readonly trail: AuditTrail;
  readonly clock: Clock;
}

/** `GET /v1/flows`, `GET /v1/flows/{name}` and its statistics. */
export const flowRoutes: FastifyPluginCallbackZod<FlowRoutesOptions> = (app, options, done) => {
  const { flows, analytics, clock } = options;
  app.get(
    '/v1/flows',
    {
      config: { permission: 'flows.read' },
      schema: {
        operationId: 'listFlows',
        summary: 'The flows, whether they can be used, and how many calls began with them',
        tags: ['flows'],
        querystring: listQuery,
        response: { 200: pageSchema(listedFlow), ...errorResponses(400, 401, 403, 429) },
      },
    },
    async ({ query: { from, ...page } }) => {
      const fromMs = from === undefined ? clock.wall().getTime() - PERIOD_MS : Date.parse(from);
      const { data, next } = pageOf(flows(), (flow) => [0, 0, flow.name], page);
      return { data: await Promise.all(data.map((flow) => listFlow(flow, analytics, fromMs))), next };
    },
  );

  app.get(
    '/v1/flows/:name',
    {
      config: { permission: 'flows.read' },
      schema: {
        operationId: 'getFlow',
        summary: 'One flow with its steps, and where each leads',
        tags: ['flows'],
        params: flowPath,
        querystring: noQuery,
        response: { 200: flowDetail, ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    async ({ params }) => {
      const found = flows().find((flow) => flow.name === params.name) ?? refuseUnknown(params.name);
      return { ...viewOf(found), flows: await drawFlows(found) };
    },
  );

  void app.register(statisticsRoute, options);
  done();
};

const statisticsRoute: FastifyPluginCallbackZod<FlowRoutesOptions> = (app, options, done) => {
  const { flows, analytics, clock, trail } = options;
  const counting = new Counting();
  app.get(
    '/v1/flows/:name/statistics',
    {
      config: { permission: 'flows.read' },
      schema: {
        operationId: 'getFlowStatistics',
        summary: 'How calls went through a flow, step by step',
        description:
          'Counted are calls that began with the flow, and those of flows that call it in which it was reached. Days ' +
          'that were counted are kept; after 10 s the answer has the latest days, and the next request goes on.',
        tags: ['flows'],
        params: flowPath,
        querystring: statisticsQuery,
        response: { 200: flowStatistics, ...errorResponses(400, 401, 403, 404, 429, 501) },
      },
    },
    async (request, reply) => {
      const wanted = readRequest(around(request.params.name, flows()), request.query, clock.wall().getTime());
      if (analytics === null) throw recordsOff();
      const gone = goneSignal(reply);
      const counted = await counting.run(() => analytics.count(wanted, gone));
      const isKnown = flows().some((flow) => flow.name === wanted.flow) || counted.versions.length > 0;
      if (!isKnown) refuseUnknown(wanted.flow);
      noteRead(request, trail, wanted.flow);
      return describeStatistics(wanted, counted);
    },
  );
  done();
};

/** Counts a few at the same time. */
class Counting {
  #running = 0;

  /** @throws TrunklineError `too_many_requests` */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= COUNTS_MAX)
      throw new TrunklineError('too_many_requests', `${COUNTS_MAX} statistics are being counted, the most allowed`);
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }
}

/** Statistics have what callers said. */
function noteRead(request: FastifyRequest, trail: AuditTrail, flow: string): void {
  trail.note(request, 'flow.read', null, { flow });
}

/** A flow with those that call it now, and those that it calls. */
function around(flow: string, all: readonly FlowState[]): Pick<StatisticsRequest, 'flow' | 'callers' | 'within'> {
  const callers = all.flatMap(({ name: other, set }) => (other !== flow && set?.flows.has(flow) ? [other] : []));
  const own = all.find(({ name: other }) => other === flow)?.set;
  return { flow, callers, within: own ? [...own.flows.keys()] : [flow] };
}

/** @throws TrunklineError `invalid_request` for a period that ends before it begins */
function readRequest(
  among: Pick<StatisticsRequest, 'flow' | 'callers' | 'within'>,
  query: z.infer<typeof statisticsQuery>,
  nowMs: number,
): StatisticsRequest {
  const { from, to, version } = query;
  const toMs = to === undefined ? nowMs : Date.parse(to);
  const fromMs = from === undefined ? toMs - PERIOD_MS : Date.parse(from);
  if (fromMs < toMs) return { ...among, fromMs, toMs, version: version ?? null };
  throw new TrunklineError(
    'invalid_request',
    `query.from: got ${describe(new Date(fromMs).toISOString())}, expected a time before \`to\``,
    'from',
  );
}

async function listFlow(flow: FlowState, analytics: FlowAnalytics | null, fromMs: number) {
  const counted = await analytics?.callsSince(flow.name, fromMs);
  if (counted === undefined) return { ...viewOf(flow), calls: null };
  const { calls: count, isMore, lastMs } = counted;
  return { ...viewOf(flow), calls: { count, isMore, last: isoOf(lastMs) } };
}

function viewOf({ name: flow, file, set, sinceMs, errors, warnings, refusedSinceMs }: FlowState) {
  const unused = set === null ? ('refused' as const) : ('kept' as const);
  return {
    name: flow,
    file,
    about: set?.main.about ?? '',
    state: refusedSinceMs === null && set !== null ? ('used' as const) : unused,
    version: set?.version ?? null,
    since: isoOf(sinceMs),
    refusedSince: isoOf(refusedSinceMs),
    errors: [...errors],
    warnings: [...warnings],
  };
}

/** The flow that calls begin with comes first. */
async function drawFlows({ set }: FlowState) {
  if (set === null) return [];
  const { nodesOf } = await import('../file/flow-graph.ts');
  const others = [...set.flows.values()].filter((flow) => flow !== set.main);
  return [set.main, ...others].map((flow) => ({
    name: flow.name,
    start: flow.start,
    keys: Object.fromEntries(flow.keys),
    steps: nodesOf(flow).map(({ exits, ...node }) => ({ ...node, exits: [...exits] })),
  }));
}

function describeStatistics(
  { flow, fromMs, toMs, version }: StatisticsRequest,
  { calls, isComplete, outcomes, versions, steps }: FlowStatistics,
): z.infer<typeof flowStatistics> {
  return {
    flow,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    version,
    calls,
    isComplete,
    outcomes,
    versions: versions.map(({ version: used, calls: count, firstMs, lastMs }) => ({
      version: used,
      calls: count,
      first: new Date(firstMs).toISOString(),
      last: new Date(lastMs).toISOString(),
    })),
    steps: steps.map((step) => ({ ...step, unmatched: [...step.unmatched], exits: step.exits.map(describeExit) })),
  };
}

function describeExit({ exit, count }: StepStatistics['exits'][number]) {
  const { kind, reason, detail } = exit;
  const to = kind === 'step' ? { flow: exit.flow, step: exit.step } : { flow: null, step: null };
  return { kind, ...to, reason, detail, count };
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function refuseUnknown(flow: string): never {
  throw new TrunklineError(
    'flow_not_found',
    `there is no flow ${describe(flow)}; GET /v1/flows lists those of FLOWS_DIR`,
  );
}

function recordsOff(): TrunklineError {
  return new TrunklineError(
    'records_off',
    'statistics need the records of calls, and this server keeps none (DATA_DIR)',
  );
}
