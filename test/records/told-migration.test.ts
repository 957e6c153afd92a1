import { afterAll, describe, expect, it } from 'vitest';
import { readSchemaState } from '../../src/records/migrations/migrations.ts';
import { migrateTold } from '../../src/records/migrations/told-migration.ts';
import { FakeClock } from '../fakes/clock.ts';
import { DATABASES } from './databases.ts';

describe.each(DATABASES)('a migration in $name', ({ isThere, start }) => {
  const databases = start();
  afterAll(() => databases.end());

  it.runIf(isThere)('is told when it begins and while it goes on, with its step', async () => {
    const clock = new FakeClock();
    const { db, kind } = await databases.openAt('0008-sip-answers');
    const lines: string[] = [];
    const state = await readSchemaState(db);
    await migrateTold(db, kind, state, { clock, tell: (line) => lines.push(line) }, async () => {
      clock.advance(6000);
    });
    expect(lines).toEqual([
      `bringing the records up to this version (${state.pending.join(', ')}); a start waits for it`,
      'still bringing the records up to this version: a copy is made, 5 s so far',
    ]);
    clock.advance(60_000);
    expect(lines).toHaveLength(2);
    expect((await readSchemaState(db)).pending).toEqual([]);
  });
});
