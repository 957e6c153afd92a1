import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';

/** Prints the URL of every module that the process loads. */
const HOOK = `import { writeSync } from 'node:fs';
export async function load(url, context, next) { writeSync(1, url + '\\n'); return next(url, context); }`;

const PROGRAM = `import { createRequire, register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent(process.env.HOOK));
const at = (path) => new URL(path, process.env.ROOT).href;
const { readSettings } = await import(at('dist/src/foundation/settings/config.js'));
const { runGateway } = await import(at('dist/src/gateway/main.js'));
const { createLog } = await import(at('dist/src/foundation/log/log.js'));
const settings = readSettings({ ...JSON.parse(process.env.SETTINGS), HOST: '127.0.0.1', PORT: '0' });
await (await runGateway(settings, { log: createLog('silent') })).close();
const required = createRequire(at('package.json')).cache;
process.stdout.write(Object.keys(required).map((path) => 'file://' + path).join('\\n'), () => process.exit(0));`;

/** What a gateway loads from its start to its end, as paths from the root of the package. */
async function loadedBy(settings: Readonly<Record<string, string>>): Promise<string[]> {
  const root = `file://${packagePath()}/`;
  const env = { PATH: process.env['PATH'], HOOK, ROOT: root, SETTINGS: JSON.stringify(settings) };
  const args = ['--input-type=module', '--eval', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 8_388_608 });
  return stdout.split('\n').flatMap((url) => (url.startsWith(root) ? [url.slice(root.length)] : []));
}

/** What only parts need that have to be switched on. */
const OF_PARTS_THAT_ARE_OFF = [
  /^dist\/src\/carriers\/sip\/(?!part|wire)/,
  /^dist\/src\/carriers\/asterisk\/ari\//,
  /^dist\/src\/hints\/(?!part)/,
  /^dist\/src\/tracing\/(?!part)/,
  /^dist\/src\/flows\/(?!part|open\.js|routes\/|prompts\/recording-limits)/,
  /^dist\/src\/jobs\/shared\//,
  /^dist\/src\/cluster\/(?!probe|forward\/)/,
  /^dist\/src\/foundation\/database\/postgres(?!-time)/,
  // prom-client brings @opentelemetry/api, and does not use it here.
  /^node_modules\/(?:@opentelemetry\/(?!api\/)|bullmq|pg\/|sip\.js)/,
];

it('loads nothing of parts that are off', async () => {
  const off = { DATA_DIR: 'none', MODELS_DIR: 'none', ENGINE_PRELOAD: 'false', SIP_PORT: '0', AUDIOSOCKET_PORT: '0' };
  const loaded = await loadedBy(off);
  expect(loaded).toContain('dist/src/hints/part.js');
  expect(loaded.filter((path) => OF_PARTS_THAT_ARE_OFF.some((part) => part.test(path)))).toEqual([]);
  const traced = await loadedBy({ ...off, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  expect(traced).toContain('dist/src/tracing/otlp-tracing.js');
});
