/** `trunkline status`: how a running server is, on one screen. */

import { formatBytes } from '../../foundation/format-bytes.ts';
import { type SystemAnswer, systemSchema } from '../../http/system/schema.ts';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.ts';
import { printable } from '../printable.ts';
import { spell } from '../transcribe-display.ts';
import type { RemoteContext } from './context.ts';

const LABEL_CHARS = 11;

/** Prints it; the exit code says whether the server is ready. @throws ServerRefused */
export async function showStatus({ server, json, terminal: { out } }: RemoteContext): Promise<number> {
  const system = await server.ask('GET', '/v1/system', systemSchema);
  if (json) out.line(JSON.stringify(system, null, 2));
  else for (const line of statusLines(system, server.url)) out.line(printable(line));
  return system.state === 'ready' ? EXIT_OK : EXIT_FAILED;
}

/** The screen. What is as it should be and needs nobody is left out. */
export function statusLines(system: SystemAnswer, url: string): string[] {
  const { version, state, uptimeMs, calls, partialsDropped } = system;
  const dropped = partialsDropped > 0 ? `; ${partialsDropped} partial captions left out` : '';
  return [
    `Trunkline ${version} at ${url}: ${state}, up ${spell(uptimeMs)}`,
    row('Calls', `${calls.live} of ${calls.max}, at most ${calls.peak} at once, ${calls.today} today`),
    row('Captions', describeLag(system) + dropped),
    row('Engines', describeEngines(system)),
    row('Records', describeRecords(system)),
    row('Disk', describeDisk(system)),
    ...rows('Ways in', waysIn(system)),
    ...rows('Apps', system.apps.map(describeApp)),
    ...rows('Refused', refusals(system)),
    ...rows('Sends', departures(system)),
  ];
}

function row(label: string, text: string): string {
  return `${label.padEnd(LABEL_CHARS)}${text}`;
}

function rows(label: string, texts: readonly string[]): string[] {
  return texts.map((text, index) => row(index === 0 ? label : '', text));
}

function describeLag({ finalLag }: SystemAnswer): string {
  const { windowMs, finals, p50Ms, p95Ms } = finalLag;
  if (p50Ms === null || p95Ms === null) return `none in the last ${spell(windowMs)}`;
  const lags = `${Math.round(p50Ms)} ms late, p95 ${Math.round(p95Ms)} ms`;
  return `${lags} (${finals} in the last ${spell(windowMs)})`;
}

function describeEngines({ engines, models, voice, provider, queue }: SystemAnswer): string {
  const ready = engines.filter((engine) => engine.state === 'ready');
  const busy = ready.map(({ busyShare }) => `${Math.round(busyShare * 100)} %`).join(', ');
  const restarts = engines.reduce((sum, engine) => sum + engine.restarts, 0);
  const waiting = queue.reduce((sum, each) => sum + each.waiting, 0);
  const devices = [...new Set(ready.flatMap(({ device }) => device ?? []))].join(', ') || provider || '?';
  const parts = [`${ready.length} of ${engines.length} ready${busy === '' ? '' : `, busy ${busy}`}`];
  if (waiting > 0) parts.push(`${waiting} jobs wait`);
  if (restarts > 0) parts.push(`${restarts} restarts`);
  if (models !== null) parts.push(`${models.asr} on ${devices}, voice ${voice ?? 'none'}`);
  return parts.join('; ');
}

function describeRecords({ records }: SystemAnswer): string {
  if (records === null) return 'nothing is kept of calls';
  const { kind, retentionDays, calls, backlog, lost, redaction, sound } = records;
  const parts = [
    `${calls ?? '?'} calls in ${kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}`,
    retentionDays === 0 ? 'kept for ever' : `kept ${retentionDays} days`,
    `redaction ${redaction}`,
  ];
  if (sound !== null) parts.push(`sound ${sound.record}${sound.bytes > 0 ? `, ${formatBytes(sound.bytes)}` : ''}`);
  if (backlog > 0) parts.push(`${backlog} events wait to be stored`);
  if (lost > 0) parts.push(`${lost} events LOST`);
  return parts.join('; ');
}

function describeDisk({ disk }: SystemAnswer): string {
  const usedBytes = disk.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const free = disk.freeBytes === null ? '' : `, ${formatBytes(disk.freeBytes)} free`;
  return `${formatBytes(usedBytes)} used${free}${disk.folder === null ? '' : ` (${disk.folder})`}`;
}

/** Those that are set up, have worked or have failed. */
function waysIn({ waysIn: ways }: SystemAnswer): string[] {
  return ways
    .filter(({ configured, workedAt, failure }) => configured || workedAt !== null || failure !== null)
    .map(({ name, open, protection, workedAt, failure }) => {
      const parts = [workedAt === null ? 'not used yet' : `worked ${workedAt}`];
      if (open === false) parts.push('NOT OPEN');
      if (protection === 'nobody') parts.push('open to everybody');
      if (failure !== null) parts.push(`failed ${failure.at}: ${failure.reason}`);
      return `${name}: ${parts.join('; ')}`;
    });
}

function describeApp({ app, reachedAt, trouble }: SystemAnswer['apps'][number]): string {
  if (trouble !== null) return `${app}: NOT REACHED since ${trouble.since} (${trouble.count} × ${trouble.reason})`;
  return `${app}: ${reachedAt === null ? 'not tried yet' : `reached ${reachedAt}`}`;
}

function refusals({ refused }: SystemAnswer): string[] {
  return refused
    .filter(({ count }) => count > 0)
    .map(({ code, count, remedy }) => `${count} × ${code}${remedy === null ? '' : `: ${remedy}`}`);
}

function departures({ departures: all }: SystemAnswer): string[] {
  return all.filter(({ leavesMachine }) => leavesMachine).map(({ what, to }) => `${what} to ${to}, off this machine`);
}
