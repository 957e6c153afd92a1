import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Metrics } from '../../src/foundation/metrics.ts';
import { DataFolderWatch } from '../../src/records/data-folder-watch.ts';
import { FakeClock } from '../fakes/clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-data-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('what DATA_DIR/refused keeps is told until it is gone', async () => {
  const { registry, records } = new Metrics();
  const watch = new DataFolderWatch({ folder, hasRecords: true, clock: new FakeClock(), metrics: records });
  watch.close();
  const told = async (): Promise<unknown> => {
    await watch.look();
    return (await registry.getSingleMetric('trunkline_records_refused_bytes')?.get())?.values[0]?.value;
  };
  await expect.poll(told).toBe(0);
  mkdirSync(join(folder, 'refused'));
  writeFileSync(join(folder, 'refused', 'one.jsonl'), '{"event":1}\n');
  await expect.poll(told).toBe(12);
  rmSync(join(folder, 'refused', 'one.jsonl'));
  await expect.poll(told).toBe(0);
});
