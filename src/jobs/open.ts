/** What runs of the part. */
import type { OpenPart } from '../parts/part.ts';
import { MAIN_TENANT, type Services } from '../parts/services.ts';
import { openBatches, type Sharing } from './open-batches.ts';
import { batchRoutes } from './routes/batches.ts';
import type { BatchTablesOf } from './shared/batch-rows.ts';

/** Batches and their routes. @throws the error of the database */
export async function openJobs(services: Services): Promise<OpenPart> {
  const upkeep = services.store.of(MAIN_TENANT);
  // A database's clock says nothing of this machine's, by which results are removed.
  const mayExpire = upkeep?.records.database.kind === 'sqlite' ? () => upkeep.sweeper.trustsClock : null;
  const batches = await openBatches({ ...services, mayExpire }, sharingOf(services));
  return {
    routes: (app, { access }) => void app.register(batchRoutes, { ...services, batches: batches.service, access }),
    resume: () => batches.resume(),
    drain: () => batches.drain(),
    release: () => batches.close(),
  };
}

/** How several gateways share them; null = this one is alone. */
function sharingOf({ settings, store, lead }: Services): Sharing | null {
  const upkeep = store.of(MAIN_TENANT);
  if (upkeep === null || lead === null) return null;
  const { DATABASE_URL, DATABASE_DIRECT_URL, GATEWAY_URL: address } = settings;
  const db = upkeep.records.database.db.withTables<BatchTablesOf>();
  return { db, url: DATABASE_DIRECT_URL || DATABASE_URL, address };
}
