/** What the System view of the console asks the parts of a gateway for. */
import { testApp } from './calls/app/app-test.ts';
import type { AppServices } from './calls/app/services.ts';
import type { CallRegistry } from './calls/registry.ts';
import { checkCores, checkFfmpeg, checkNode, checkRuntime, type Finding } from './cli/checks.ts';
import { checkInstalled } from './cli/models/check-installed.ts';
import type { EngineClient } from './engine-client/engine-client.ts';
import type { Clock } from './foundation/clock.ts';
import type { Metrics } from './foundation/metrics.ts';
import { findWarnings } from './foundation/settings/config.ts';
import type { Settings } from './foundation/settings/settings.ts';
import type { SystemSources } from './http/system/system.ts';
import type { Records } from './records/records.ts';

/** The checks start processes: they are run again after this at the earliest. */
const CHECK_EVERY_MS = 60_000;
/** Calls are counted to say how many there are. */
const RECORDS_EVERY_MS = 15_000;

interface SourceOptions {
  readonly settings: Settings;
  readonly registry: CallRegistry;
  readonly engine: EngineClient;
  readonly apps: AppServices;
  readonly demoCalls: SystemSources['demoCalls'];
  /** Null = nothing is kept. */
  readonly records: Records | null;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** The sources of one gateway. */
export function systemSources(options: SourceOptions): SystemSources {
  const { settings, registry, engine, apps, demoCalls, clock } = options;
  const { reachability } = apps;
  return {
    engines: () => engine.report,
    liveCalls: () => registry.liveCount,
    apps: { list: () => reachability.list(), test: () => testApp({ settings, reachability, clock }) },
    demoCalls,
    records: everySoOften(clock, RECORDS_EVERY_MS, () => describeRecords(options)),
    checks: everySoOften(clock, CHECK_EVERY_MS, () => runChecks(settings)),
  };
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

/** Null where nothing is kept, or where that cannot be read just now. */
async function describeRecords({ records, metrics, settings }: SourceOptions): ReturnType<SystemSources['records']> {
  const status = await records?.status().catch(() => null);
  if (status === undefined || status === null) return null;
  const { oldestCallAt, troubled, ...rest } = status;
  const { values } = await metrics.records.lost.get();
  const lost = values.reduce((sum, { value }) => sum + value, 0);
  const { REDACT = 'off' } = settings as { readonly REDACT?: string };
  return { ...rest, oldestAt: oldestCallAt, isTroubled: troubled, lost, redaction: REDACT };
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
