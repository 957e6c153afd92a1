/** What runs of the part. */
import { CallAnnouncements } from '../../calls/admission/call-announcements.ts';
import { listenFor } from '../../foundation/listen.ts';
import type { OpenPart } from '../../parts/part.ts';
import type { Services } from '../../parts/services.ts';
import { announcementRoutes } from './announcement-routes.ts';
import { AudioSocketServer } from './server.ts';

/** The route at which calls are announced, and the port that they come to. */
export function openAudioSocket(services: Services): OpenPart {
  const { settings, clock, log, oneUse } = services;
  const announced = new CallAnnouncements({ clock, store: oneUse, log });
  const at = { host: settings.HOST, port: settings.AUDIOSOCKET_PORT, setting: 'AUDIOSOCKET_PORT' } as const;
  const server = at.port === 0 ? null : new AudioSocketServer({ ...services, announced });
  return {
    carrierRoutes: (app, { access }) => void app.register(announcementRoutes, { settings, announced, access }),
    listen: async () => {
      if (server !== null) await listenFor('AudioSocket', server, at, log);
    },
    close: () => server?.close(),
  };
}
