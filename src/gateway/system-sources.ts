/** What the System view of the console asks the parts of a gateway for. */
import { testApp } from '../calls/app/app-test.ts';
import type { AppServices } from '../calls/app/services.ts';
import type { CallRegistry } from '../calls/registry.ts';
import { checkCores, checkFfmpeg, checkNode, checkRuntime } from '../checks/checks.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { ManagedEngine } from '../engine-client/managed-engine.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Finding } from '../foundation/finding.ts';
import { findWarnings } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import type { SystemSources } from '../http/system/system.ts';
import { checkInstalled } from '../models/check-installed.ts';
import { waysInOf } from '../parts/lists.ts';
import type { CallUpkeep } from '../records/call-upkeep.ts';
import { countCallsSince } from '../records/database-report.ts';
import type { Records } from '../records/records.ts';
import { findDepartures } from './departures.ts';
import { PARTS } from './parts.ts';

/** The checks start processes: they are run again after this at the earliest. */
const CHECK_EVERY_MS = 60_000;
/** Counting the calls reads an index of them all. */
const COUNT_EVERY_MS = 15_000;
const COUNT_WITHIN_MS = 1000;

interface SourceOptions {
  readonly settings: Settings;
  readonly registry: CallRegistry;
  readonly engine: ManagedEngine;
  readonly apps: AppServices;
  readonly records: Records | null;
  /** Null = nothing is kept. */
  readonly upkeep: CallUpkeep | null;
  readonly cluster: Pick<Cluster, 'id' | 'members'> | null;
  readonly clock: Clock;
}

/** The sources of one gateway. */
export function systemSources(options: SourceOptions): SystemSources {
  const { settings, registry, engine, apps, records, upkeep, cluster, clock } = options;
  const { reachability } = apps;
  return {
    engines: () => engine.report,
    liveCalls: () => registry.liveCount,
    callsMax: () => registry.callsMax,
    storedToday: everySoOften(clock, COUNT_EVERY_MS, () => countToday(records, clock)),
    apps: { list: () => reachability.list(), test: () => testApp({ settings, reachability, clock }) },
    departures: findDepartures(settings),
    waysIn: waysInOf(PARTS),
    records: everySoOften(clock, COUNT_EVERY_MS, () => recordsOf({ records, upkeep }, settings, clock)),
    gateways: () => gatewaysOf(cluster),
    checks: everySoOften(clock, CHECK_EVERY_MS, () => runChecks(settings)),
  };
}

type SoundReport = NonNullable<Awaited<ReturnType<SystemSources['records']>>>['sound'];

/** Without counts when the database does not answer: the rest is worth having then. */
async function recordsOf(
  { records, upkeep }: Pick<SourceOptions, 'records' | 'upkeep'>,
  settings: Pick<Settings, 'REDACT' | 'RECORD'>,
  clock: Clock,
): ReturnType<SystemSources['records']> {
  if (records === null) return null;
  const { kind } = records.database;
  const { backlog, lost } = records.recorder;
  const { retentionDays } = records;
  const redaction = settings.REDACT;
  const counted = await orSoon(clock, records.counted.read(), null);
  return {
    kind,
    retentionDays,
    calls: counted?.calls ?? null,
    oldestAt: counted?.oldestCallAt ?? null,
    backlog,
    lost,
    redaction,
    warnings: [...(upkeep?.warnings ?? [])],
    sound: soundOf(records, settings),
  };
}

function gatewaysOf(cluster: SourceOptions['cluster']): ReturnType<SystemSources['gateways']> {
  if (cluster === null) return [];
  return cluster.members().map(({ id, name, address, state, live, maxCalls, firmLoad, startedMs }) => {
    const startedAt = new Date(startedMs).toISOString();
    return { id, name, address, state, isThis: id === cluster.id, live, max: maxCalls, firmLoad, startedAt };
  });
}

async function countToday(records: Records | null, clock: Clock): Promise<number> {
  if (records === null) return 0;
  const sinceMs = clock.wall().setHours(0, 0, 0, 0);
  return orSoon(clock, countCallsSince(records.database, sinceMs), 0);
}

/** `otherwise` where a count fails, or does not come soon: the database may not answer. */
async function orSoon<T>(clock: Clock, count: Promise<T>, otherwise: T): Promise<T> {
  const sure = count.catch(() => otherwise);
  return (await settlesWithin(clock, sure, COUNT_WITHIN_MS)) ? sure : otherwise;
}

function soundOf({ sound }: Records, { RECORD }: Pick<Settings, 'RECORD'>): SoundReport {
  return sound && { record: RECORD, isEncrypted: sound.isEncrypted, bytes: sound.bytes };
}

/** Those that need no engine of their own and no free port. Never rejects. */
async function runChecks(settings: Settings): Promise<Finding[]> {
  const warnings = findWarnings(settings).map((detail): Finding => ({ name: 'settings', status: 'warn', detail }));
  const settingsFine: Finding = { name: 'settings', status: 'ok', detail: 'all values are valid' };
  const [node, runtime, installed, ffmpeg] = await Promise.all([
    checkNode(),
    checkRuntime(settings),
    checkInstalled(settings, { hashes: false }),
    checkFfmpeg(),
  ]);
  return [node, settingsFine, ...warnings, checkCores(settings), ...runtime, ...installed, ffmpeg];
}

/** Runs `work` when asked, at most once in `everyMs`; who asks meanwhile gets the same answer. */
function everySoOften<T>(clock: Clock, everyMs: number, work: () => Promise<T>): () => Promise<T> {
  let latest: { readonly atMs: number; readonly answer: Promise<T> } | null = null;
  return () => {
    const nowMs = clock.nowMs();
    if (latest === null || nowMs - latest.atMs >= everyMs) latest = { atMs: nowMs, answer: work() };
    return latest.answer;
  };
}
