/** Stores the end of a call whose webhook nobody answers, says so, and waits to be killed. `argv`: database, URL. */

import { systemClock } from '../../../src/foundation/clock.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { migrate } from '../../../src/records/migrations/migrations.ts';
import { openSqliteRecords } from '../../../src/records/sqlite-records.ts';
import { openWebhooks } from '../../../src/records/webhooks/open-webhooks.ts';
import { ended, openToldGateway, said, started } from '../told-calls.ts';
import { webhookSettings } from './receiver.ts';

const [path = '', url = ''] = process.argv.slice(2);
const database = await openSqliteRecords(path);
await migrate(database.db, 'sqlite');
const { records, tell, metrics } = openToldGateway(database);
const settings = webhookSettings(url, { WEBHOOK_SECRET: 'not the one' });
const webhooks = openWebhooks(settings, records, { clock: systemClock, log: createLog('silent'), metrics });
if (webhooks !== null) records.openOutbox(webhooks.outbox, webhooks.types);
await tell(started('CA1'), said('CA1', 1, 'I lost my card.'), ended('CA1'));
process.stdout.write('stored\n');
setInterval(() => undefined, 1000);
