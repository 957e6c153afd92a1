/** What runs of the part. */
import type { OpenPart } from '../parts/part.ts';
import { MAIN_TENANT, type Services } from '../parts/services.ts';
import type { FlowsOptions } from './open-flows.ts';
import { flowPromptRoutes } from './routes/flow-prompts.ts';
import { flowRoutes } from './routes/flows.ts';
import { schemaRoutes } from './routes/schemas.ts';

/**
 * Its routes, and the flows, of which nothing is loaded where FLOWS_DIR is empty.
 * @throws ConfigError when a file of FLOWS_DIR cannot be used
 */
export async function openFlowsPart(services: Services, worldOf: FlowsOptions['worldOf']): Promise<OpenPart> {
  const { settings, clock, log, speech, store } = services;
  const flows = settings.FLOWS_DIR === '' ? null : await load({ settings, clock, log, ahead: speech.ahead, worldOf });
  const analytics = store.of(MAIN_TENANT)?.records.flows ?? null;
  return {
    flows: flows?.calls ?? null,
    carrierRoutes: (app) => void app.register(schemaRoutes),
    routes: (app, { trail }) => {
      void app.register(flowRoutes, { flows: () => flows?.folder.list() ?? [], analytics, trail, clock });
      void app.register(flowPromptRoutes, { prompts: flows?.prompts ?? null, speech });
    },
    release: () => flows?.close(),
  };
}

async function load(options: FlowsOptions) {
  const { openFlows } = await import('./open-flows.ts');
  return openFlows(options);
}
