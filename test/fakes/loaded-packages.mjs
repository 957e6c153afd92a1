/**
 * Runs the built gateway in this process, ends it, and writes the names of the packages that were loaded for it, as
 * far as they are CommonJS modules: those of OpenTelemetry are.
 */
import { createRequire } from 'node:module';

const { readSettings } = await import(new URL('../../dist/src/foundation/settings/config.js', import.meta.url).href);
const { createLog } = await import(new URL('../../dist/src/foundation/log/log.js', import.meta.url).href);
const { runGateway } = await import(new URL('../../dist/src/gateway/main.js', import.meta.url).href);

const gateway = await runGateway(readSettings(), { log: createLog('silent') });
await gateway.close();
const names = Object.keys(createRequire(import.meta.url).cache).map(
  (path) => /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(path)?.[1]?.replaceAll('\\', '/') ?? '',
);
process.stdout.write(JSON.stringify([...new Set(names)]));
process.exit(0);
