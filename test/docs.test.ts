/** What README and NOTICE promise is what there is: each table is compared with its source, both ways. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../src/foundation/folders/paths.ts';
import { markdownFiles, sectionOf, tableRows } from './docs/markdown.ts';

function read(...path: string[]): string {
  return readFileSync(packagePath(...path), 'utf8');
}

const readme = read('README.md');

describe('README', () => {
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
    const run = markdownFiles().flatMap((document) =>
      [...read(document).matchAll(/\bnpm run ([a-z0-9:]+)/g)].map(([, script = '']) => script),
    );
    const unknown = [...named, ...run].filter((script) => !(script in scripts) && !builtIn.includes(script));
    expect([...new Set(unknown)]).toEqual([]);
  });

  it('has a command for each figure, and a page of what that printed', () => {
    const figures = tableRows(sectionOf(readme, '## Figures'));
    const named = figures.map(([, , command = '']) => /`npm run bench -- ([\w-]+)`/.exec(command)?.[1] ?? command);
    expect(named.filter((name) => !existsSync(packagePath('docs', 'internals', 'benchmarks', `${name}.md`)))).toEqual(
      [],
    );
    expect(figures.length).toBe(5);
  });

  it('shows pictures that are there, as the guide of the console does, and none is left over', () => {
    const [here, there] = [readme, read('docs', 'guide', 'console.md')].map((page) =>
      [...page.matchAll(/!\[[^\]]{20,}\]\([^)]*images\/([\w-]+\.webp)\)/g)].map(([, name = '']) => name),
    );
    expect(here?.length).toBeGreaterThan(0);
    expect([...new Set([...(here ?? []), ...(there ?? [])])].toSorted()).toEqual(
      readdirSync(packagePath('docs', 'images')).toSorted(),
    );
    const bytes = readdirSync(packagePath('docs', 'images')).map(
      (name) => statSync(packagePath('docs', 'images', name)).size,
    );
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_000_000);
  });

  it('gives the test command that CI runs', () => {
    expect(readme).toContain('npm ci && npm test');
    // Between the two, CI adds the models that tests need.
    expect(read('.ci', 'run')).toMatch(/^step npm ci$[\s\S]*^step npm test\b/m);
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
