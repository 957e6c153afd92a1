/** What runs of the part. */
import type { OpenPart } from '../../parts/part.ts';
import type { Services } from '../../parts/services.ts';
import { genesysRoutes } from './routes.ts';
import { AudioHookTrunk } from './trunk.ts';

/** Its route. Genesys is told when calls end. */
export function openAudioHook(services: Services): OpenPart {
  const { engine } = services;
  const audioHook = new AudioHookTrunk({ ...services, languages: () => engine.languages });
  return {
    carrierRoutes: (app, { access }) => void app.register(genesysRoutes, { ...services, audioHook, access }),
    goodbye: () => audioHook.closed(),
  };
}
