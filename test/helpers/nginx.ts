/** nginx as deploy/compose/three has it, before gateways of this machine. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { eventually } from './eventually.ts';
import { freePort } from './ports.ts';

const run = promisify(execFile);

const NGINX = '/usr/sbin/nginx';

/** For the name of a test: '' where nginx is installed, else that the test is not run. */
export const whyNoNginx = existsSync(NGINX) ? '' : ' (not run: nginx is not installed)';

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** A running nginx. */
interface DeployedNginx {
  /** `https://127.0.0.1:<port>`, with a certificate that nobody has signed. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Three gateways, as in the file; `gatewayPorts` may be fewer. `silence`: how long a webhook waits for a gateway, in
 * place of what the file says. @throws Error when nginx does not start
 */
export async function startDeployedNginx(gatewayPorts: readonly number[], silence = '4s'): Promise<DeployedNginx> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-nginx-'));
  const [port, plainPort] = [await freePort(), await freePort()];
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=127.0.0.1', '-keyout', join(folder, 'privkey.pem'), '-out', join(folder, 'fullchain.pem')],
  ]);
  let place = 0;
  const written = readFileSync(packagePath('deploy', 'compose', 'three', 'nginx.conf'), 'utf8')
    .replaceAll('/etc/nginx/certificates', folder)
    .replaceAll('/dev/stdout', join(folder, 'access.log'))
    // Of its own user, who may not be root.
    .replace('http {', `http { ${TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}`)
    .replace('proxy_read_timeout 4s;', `proxy_read_timeout ${silence};`)
    .replace('listen 80;', `listen 127.0.0.1:${plainPort};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replace(/server 10\.77\.0\.\d+:8080/g, () => `server 127.0.0.1:${gatewayPorts[place++ % gatewayPorts.length]}`);
  const path = join(folder, 'nginx.conf');
  writeFileSync(path, written);
  const own = `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;`;
  const nginx = spawn(NGINX, ['-p', folder, '-c', path, '-e', join(folder, 'error.log'), '-g', own], {
    stdio: 'ignore',
  });
  const exited = once(nginx, 'exit');
  await eventually(async () => {
    if (nginx.exitCode !== null) throw new Error(`nginx ended: ${readFileSync(join(folder, 'error.log'), 'utf8')}`);
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect').finally(() => socket.destroy());
  });
  return {
    url: `https://127.0.0.1:${port}`,
    close: async () => {
      nginx.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
