/** The web page. */
import type { Part } from '../parts/part.ts';

/** Always on. */
export const consolePage: Part = {
  name: 'console',
  open: async () => {
    const { pageRoutes } = await import('./page-routes.ts');
    return { carrierRoutes: (app) => void app.register(pageRoutes) };
  },
};
