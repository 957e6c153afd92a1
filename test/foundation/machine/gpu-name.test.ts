import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askGpuName, readGpuName } from '../../../src/foundation/machine/gpu-name.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpu-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(bus: string, text: string): void {
  mkdirSync(join(folder, bus));
  writeFileSync(join(folder, bus, 'information'), text);
}

describe('readGpuName', () => {
  it('is what the driver says', async () => {
    put('0000:01:00.0', 'Model: \t\t NVIDIA L4\nIRQ:   \t\t 31\n');
    put('0000:02:00.0', 'Model: \t\t NVIDIA L4\nIRQ:   \t\t 32\n');
    expect(await readGpuName(folder)).toBe('NVIDIA L4');
    const name = askGpuName(folder);
    expect(name()).toBeNull();
    await expect.poll(name).toBe('NVIDIA L4');
  });

  it('is none where there is no driver, where it says nothing, and where it is uncertain', async () => {
    expect(await readGpuName(join(folder, 'nothing'))).toBeNull();
    expect(await readGpuName(folder)).toBeNull();
    put('0000:01:00.0', 'IRQ: 31\n');
    expect(await readGpuName(folder)).toBeNull();
    put('0000:02:00.0', 'Model: NVIDIA L4\n');
    expect(await readGpuName(folder)).toBeNull();
  });
});
