import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/foundation/log/log.ts';
import { DeletedElsewhere } from '../../../src/records/sound/deleted-elsewhere.ts';
import { dayFolder, type SoundOwner, soundName } from '../../../src/records/sound/sound-paths.ts';
import { FakeClock } from '../../fakes/clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sound-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('sound of calls that another gateway deleted', () => {
  it('is removed from this disk, and no other', async () => {
    const owners: SoundOwner[] = ['CA1', 'CA2', 'CA3'].map((callId, day) => ({
      callId,
      startedMs: Date.parse(`2026-11-2${day}T10:00:00Z`),
    }));
    for (const owner of owners) {
      const day = dayFolder(folder, soundName(owner));
      mkdirSync(day, { recursive: true });
      writeFileSync(join(day, soundName(owner)), '');
      writeFileSync(join(day, 'notes.txt'), '');
    }
    const removed: SoundOwner[] = [];
    const remove = async (owner: SoundOwner) => removed.push(owner);
    const clock = new FakeClock();
    const deleted = new DeletedElsewhere({ folder, sound: { remove }, clock, log: createLog('silent') });
    for (const callId of ['CA1', 'CA3', 'CA9']) deleted.note(callId);
    expect(removed).toEqual([]);
    clock.advance(5000);
    await expect.poll(() => removed.length).toBe(2);
    expect(removed.toSorted((a, b) => a.startedMs - b.startedMs)).toEqual([owners[0], owners[2]]);
    deleted.close();
  });
});
