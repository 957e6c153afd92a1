/** `npm run release -- <version>`: makes a version of what lies in changes/. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The kinds of changes, and the headings that they come under. */
const KINDS: readonly (readonly [kind: string, heading: string])[] = [
  ['stops', 'Installs that stop, or behave otherwise, until they are changed'],
  ['new', 'What is new'],
  ['mended', 'What was wrong'],
];
const FOLDER = 'changes';
const CHART = 'deploy/helm/trunkline/Chart.yaml';

/**
 * The changes in `folder`, by name.
 * @throws Error for one whose name or text is not what changes/README.md says
 */
export function readFragments(folder = FOLDER): Map<string, string> {
  const names = readdirSync(folder).filter((name) => name !== 'README.md');
  const fragments = new Map(names.toSorted().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  for (const [name, text] of fragments) checkFragment(name, text);
  return fragments;
}

/** @throws Error for a name or a text that is not what changes/README.md says */
export function checkFragment(name: string, text: string): void {
  const kinds = KINDS.map(([kind]) => kind).join('|');
  if (!new RegExp(`^(?:${kinds})-[a-z0-9-]+\\.md$`).test(name))
    throw new Error(`${FOLDER}/${name}: expected a name such as new-warm-transfer.md (${kinds})`);
  if (!/^- /.test(text)) throw new Error(`${FOLDER}/${name}: expected items of a list, "- …"`);
}

/** `changelog` with a section for `version`, of `date` (2026-11-24), before all others. @throws Error for no changes */
export function addVersion(
  changelog: string,
  fragments: ReadonlyMap<string, string>,
  version: string,
  date: string,
): string {
  const parts = KINDS.flatMap(([kind, heading]) => {
    const texts = [...fragments].filter(([name]) => name.startsWith(`${kind}-`)).map(([, text]) => text.trim());
    return texts.length === 0 ? [] : [`**${heading}**\n\n${texts.join('\n')}\n`];
  });
  if (parts.length === 0) throw new Error(`${FOLDER}/ has no changes: there is nothing to release`);
  const at = changelog.indexOf('\n## ') + 1;
  return `${changelog.slice(0, at)}## ${version} (${date})\n\n${parts.join('\n')}\n${changelog.slice(at)}`;
}

function release(version = ''): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`expected a version such as 0.3.0, got "${version}"`);
  const fragments = readFragments();
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync('CHANGELOG.md', addVersion(readFileSync('CHANGELOG.md', 'utf8'), fragments, version, date));
  for (const file of ['package.json', 'package-lock.json']) setVersion(file, version);
  const chart = readFileSync(CHART, 'utf8').replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`);
  writeFileSync(CHART, chart);
  for (const name of fragments.keys()) rmSync(join(FOLDER, name));
  process.stdout.write(
    `Version ${version}. Run npm run docs, look at the difference, commit it and tag v${version}.\n`,
  );
}

function setVersion(file: string, version: string): void {
  const json = JSON.parse(readFileSync(file, 'utf8')) as {
    version: string;
    packages?: Record<string, { version: string }>;
  };
  json.version = version;
  const own = json.packages?.[''];
  if (own) own.version = version;
  writeFileSync(file, `${JSON.stringify(json, null, 2)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) release(process.argv[2]);
