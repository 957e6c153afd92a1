/** What README and NOTICE promise is what there is: each table is compared with its source, both ways. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packagePath } from '../src/foundation/folders/paths.ts';
import { startServer } from './http/test-server.ts';

function read(...path: string[]): string {
  return readFileSync(packagePath(...path), 'utf8');
}

/** The rows below the heading `heading` whose first cell is code, as cells without their backticks. */
function tableUnder(markdown: string, heading: string): string[][] {
  const from = markdown.indexOf(`\n${heading}\n`);
  if (from < 0) throw new Error(`there is no heading "${heading}"`);
  const section = markdown.slice(from + heading.length + 2).split(/^#+ /m)[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

const readme = read('README.md');

describe('README', () => {
  it('leads to files that exist', () => {
    const targets = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].flatMap((document) =>
      [...read(document).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target = '']) => target),
    );
    expect(targets.filter((target) => !existsSync(packagePath(target)))).toEqual([]);
    expect(targets).toContain('docs/images/page.png');
  });

  it('is joined by a tour that names files that exist', () => {
    const files = ['src', 'engine', 'test'].flatMap((room) =>
      readdirSync(packagePath(room), { recursive: true, encoding: 'utf8' }).map(
        (path) => `/${room}/${path.replaceAll('\\', '/')}`,
      ),
    );
    const tours = read('CONTRIBUTING.md') + read('docs', 'internals', 'architecture.md');
    const named = [...tours.matchAll(/`([\w./-]+\.(?:ts|js))`/g)].map(([, path = '']) => path);
    expect(named.filter((path) => !files.some((file) => file.endsWith(`/${path}`)))).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
  });

  it('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const builtIn = ['ci', 'start', 'test', 'install'];
    const named = ['README.md', 'CONTRIBUTING.md', '.ci/run', 'Dockerfile'].flatMap((document) =>
      [...read(document).matchAll(/\bnpm (?:run )?([a-z0-9:]+)/g)].map(([, script = '']) => script),
    );
    expect([...new Set(named)].filter((script) => !(script in scripts) && !builtIn.includes(script))).toEqual([]);
  });

  it('gives the test command that CI runs', () => {
    expect(readme).toContain('npm ci && npm test');
    expect(read('.ci', 'run')).toContain("'npm ci && npm test'");
  });
});

describe('the doors in README', () => {
  let app: FastifyInstance;

  beforeAll(async () => {
    ({ app } = await startServer());
    await app.ready();
  });

  afterAll(() => app.close());

  /** `GET /v1/calls/{id}` → method and path as the server has them; a WebSocket begins as a GET. */
  function doorsInReadme(): { method: string; url: string }[] {
    return tableUnder(readme, '## Doors')
      .flatMap(([doors = '']) => doors.split(', '))
      .map((door) => door.split(' '))
      .map(([method = '', path = '']) => ({
        method: method === 'WS' ? 'GET' : method,
        url: path.replace(/\{(\w+)\}/g, ':$1'),
      }));
  }

  it('are all there', () => {
    const missing = doorsInReadme().filter(({ method, url }) => !app.hasRoute({ method: method as 'GET', url }));
    expect(missing).toEqual([]);
    expect(doorsInReadme().length).toBeGreaterThan(10);
  });

  it('are all that the API description knows', () => {
    const described = Object.entries(app.swagger().paths ?? {}).flatMap(([path, methods]) =>
      Object.keys(methods ?? {}).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    );
    const listed = new Set(doorsInReadme().map(({ method, url }) => `${method} ${url}`));
    expect(described.filter((door) => !listed.has(door))).toEqual([]);
    expect(described.length).toBeGreaterThan(8);
  });
});

describe('NOTICE', () => {
  it('is what its script writes', () => {
    const written = execFileSync(process.execPath, [packagePath('scripts', 'notice.mjs'), '--print'], {
      encoding: 'utf8',
    });
    expect(read('NOTICE')).toBe(written);
  });

  it('names every package that runs with Trunkline and its licence', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    for (const [name, version] of Object.entries(dependencies))
      expect(read('NOTICE')).toContain(`\n${name} ${version}: `);
    expect(read('NOTICE')).not.toContain('not stated');
  });

  it('names the models', () => {
    expect(read('NOTICE')).toMatch(/Moonshine tiny .*MIT/);
    expect(read('NOTICE')).toMatch(/Silero VAD .*MIT/);
  });
});
