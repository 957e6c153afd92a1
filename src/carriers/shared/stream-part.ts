/** A part for a carrier that streams calls over WebSocket as Twilio does: what it says of itself, and its dialect. */
import type { Part } from '../../parts/part.ts';
import type { StreamCarrier } from './stream-carrier.ts';

/** The part of `carrier`. */
export function streamPart(carrier: StreamCarrier): Part {
  const { name, people, protects = 'CARRIER_TOKEN' } = carrier;
  return {
    name,
    carriers: [{ id: name, name: people }],
    waysIn: [{ id: name, name: people, protects, route: `/${name}/media` }],
    open: async (services) => {
      const { openStreamRoute } = await import('./stream-routes.ts');
      const dialect = await carrier.load();
      const isSigned = carrier.protects !== undefined && services.settings[carrier.protects] !== '';
      const signature = isSigned ? ((await carrier.loadSignature?.()) ?? null) : null;
      return {
        carrierRoutes: (app, { access }) =>
          void app.register(openStreamRoute, { ...services, carrier, dialect, signature, access }),
      };
    },
  };
}
