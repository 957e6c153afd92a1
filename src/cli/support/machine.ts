/** The machine and the program, as far as faults depend on them. */
import { readFileSync } from 'node:fs';
import { arch, cpus, freemem, loadavg, release, totalmem, type, uptime } from 'node:os';
import { freeBytes } from '../../foundation/folders/folder-size.ts';
import { packagePath } from '../../foundation/folders/paths.ts';
import { coresAvailable } from '../../foundation/machine/cores.ts';
import { readDescriptorLimit } from '../../foundation/machine/descriptor-limit.ts';
import { NO_FOLDER } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';

/** Of the program, of Node.js, and of the packages as package.json names them. */
export function describeVersions(): Record<string, unknown> {
  const { version, dependencies } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
    version: string;
    dependencies: Record<string, string>;
  };
  const { node, v8, openssl } = process.versions;
  return { trunkline: version, node, v8, openssl, dependencies };
}

/** Processor, memory, disk and descriptors, now; null = that cannot be told. */
export async function describeMachine({ DATA_DIR }: Pick<Settings, 'DATA_DIR'>): Promise<Record<string, unknown>> {
  return {
    system: `${type()} ${release()} ${arch()}`,
    container: readText('/.dockerenv') !== null || readText('/run/.containerenv') !== null,
    processor: cpus()[0]?.model ?? null,
    cores: cpus().length,
    coresAvailable: coresAvailable(),
    load: loadavg(),
    uptimeSeconds: Math.round(uptime()),
    memoryBytes: { total: totalmem(), free: freemem(), limit: process.constrainedMemory() },
    diskFreeBytes: await freeBytes(DATA_DIR === NO_FOLDER || DATA_DIR === '' ? '.' : DATA_DIR),
    descriptorsMax: readDescriptorLimit(),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
