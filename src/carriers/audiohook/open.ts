/** What runs of the part. */
import type { OpenPart } from '../../parts/part.ts';
import { MAIN_TENANT, type Services } from '../../parts/services.ts';
import { genesysRoutes } from './routes.ts';
import { AudioHookTrunk } from './trunk.ts';

/** Its route. Genesys is told when calls end. */
export function openAudioHook(services: Services): OpenPart {
  const { engine, feed } = services;
  const audioHook = new AudioHookTrunk({ ...services, feed: feed.of(MAIN_TENANT), languages: () => engine.languages });
  return {
    carrierRoutes: (app, { access }) => void app.register(genesysRoutes, { ...services, audioHook, access }),
    goodbye: () => audioHook.closed(),
  };
}
