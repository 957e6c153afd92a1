/** What runs of the part. */
import type { OpenPart } from '../../parts/part.ts';
import type { Services } from '../../parts/services.ts';
import { demoCallRoutes } from './demo-call-route.ts';
import { DemoCalls } from './demo-calls.ts';
import { twilioRoutes } from './routes.ts';

/** Its routes, and the demo calls. */
export function openTwilio(services: Services): OpenPart {
  const demoCalls = new DemoCalls(services);
  return {
    carrierRoutes: (app, { access }) => void app.register(twilioRoutes, { ...services, access }),
    routes: (app) => void app.register(demoCallRoutes, { demoCalls }),
    drain: () => demoCalls.close(),
  };
}
