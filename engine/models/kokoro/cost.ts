/**
 * What a second of Kokoro's speech costs on this machine: measured at the first start with it, and kept in
 * `voice-cost-<hash>.json`. Another network, processor or onnxruntime is measured anew.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { env } from '../../onnxruntime.ts';

/** What a measurement holds for. */
export interface CostKey {
  /** SHA-256 of the network's file. */
  readonly model: string;
  /** Folder in which it is kept. */
  readonly cacheDir: string;
}

/**
 * CPU seconds for a second of speech, from `measure` unless it has been measured on this processor before. One that
 * cannot be kept is measured again the next time.
 */
export async function costHere({ model, cacheDir }: CostKey, measure: () => Promise<number>): Promise<number> {
  const machine = createHash('sha256')
    .update(`${model} ${cpus()[0]?.model ?? ''} onnxruntime ${env.versions.node}`)
    .digest('hex')
    .slice(0, 16);
  const file = join(cacheDir, `voice-cost-${machine}.json`);
  const known = await readCost(file);
  if (known !== null) return known;
  const cost = Number((await measure()).toPrecision(2));
  const temporary = `${file}.${process.pid}.tmp`;
  await mkdir(cacheDir, { recursive: true })
    .then(() => writeFile(temporary, JSON.stringify({ cost })))
    .then(() => rename(temporary, file))
    .catch(() => undefined);
  return cost;
}

async function readCost(file: string): Promise<number | null> {
  try {
    const { cost } = JSON.parse(await readFile(file, 'utf8')) as { cost?: unknown };
    return typeof cost === 'number' && cost > 0 && Number.isFinite(cost) ? cost : null;
  } catch {
    return null;
  }
}
