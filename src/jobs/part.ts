/** Batches: many recordings as one job that outlives a restart. */
import type { Part } from '../parts/part.ts';

/** Always on; what several gateways need for it is loaded where there are several. */
export const jobs: Part = {
  name: 'jobs',
  open: async (services) => (await import('./open.ts')).openJobs(services),
};
