/** The web page. Its files hold no data, so they load without a key and can then ask for it. */
import fastifyStatic from '@fastify/static';
import type { FastifyPluginCallback } from 'fastify';
import { packagePath } from '../foundation/folders/paths.ts';

/** Nothing from elsewhere, nothing inline, in nobody's frame. */
const PAGE_POLICY =
  "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

/** `GET /`, and the files beside it. They are listed at the start, so any other path stays "not found". */
export const pageRoutes: FastifyPluginCallback = (app, _options, done) => {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, open: true };
  });
  void app.register(fastifyStatic, {
    root: packagePath('src', 'console', 'page'),
    wildcard: false,
    schemaHide: true,
    cacheControl: false,
    setHeaders: (response) => {
      response.setHeader('content-security-policy', PAGE_POLICY);
      response.setHeader('cache-control', 'no-cache');
    },
  });
  done();
};
