/** What runs of the part. */
import type { OpenPart } from '../parts/part.ts';
import { MAIN_TENANT, type Services } from '../parts/services.ts';
import { databaseRoutes } from './database.ts';
import { queryRoutes } from './query.ts';
import { refusedRoutes } from './refused.ts';
import { sweepRoutes } from './sweep.ts';

/** Its routes. */
export function openAdministration({ store, clock }: Services): OpenPart {
  const upkeep = store.of(MAIN_TENANT);
  const records = upkeep?.records ?? null;
  return {
    routes: (app, { access }) => {
      void app.register(databaseRoutes, { records });
      void app.register(queryRoutes, { records, access });
      void app.register(refusedRoutes, { records });
      void app.register(sweepRoutes, { sweeper: upkeep?.sweeper ?? null, clock });
    },
  };
}
