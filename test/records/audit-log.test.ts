import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { AuditLog } from '../../src/records/audit/audit-log.ts';
import { DATABASES } from './databases.ts';

const databases = DATABASES[0].start();
afterAll(() => databases.end());

it('a line that the database refuses is counted, and holds up no other', async () => {
  const { db, reader } = await databases.open();
  await sql`CREATE TRIGGER picky BEFORE INSERT ON audit WHEN NEW.action = 'refused' BEGIN
    SELECT RAISE(ABORT, 'no'); END`.execute(db);
  let lost = 0;
  const audit = new AuditLog({
    db,
    reader,
    clock: systemClock,
    log: createLog('silent'),
    onLost: () => {
      lost++;
    },
  });
  for (const action of ['calls.searched', 'refused', 'calls.exported'])
    audit.note({ who: 'ada', role: 'admin', action, callId: null, detail: {} });
  await audit.flush();
  expect((await audit.list({}, 10)).map(({ action }) => action)).toEqual(['calls.exported', 'calls.searched']);
  expect(lost).toBe(1);
});
