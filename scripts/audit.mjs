/**
 * Asks the registry what is known against the packages that run with Trunkline (`npm audit`), and ends with 1 when
 * there is something that SECURITY.md does not judge: a finding counts as judged when its advisory's id (GHSA-…) stands
 * there. A registry that cannot be asked is told of, and ends with 0.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const judged = readFileSync(new URL('../SECURITY.md', import.meta.url), 'utf8');

/** @returns the report of `npm audit`; its `vulnerabilities` are missing where the registry did not answer */
function askRegistry() {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { cwd: root, encoding: 'utf8' });
  try {
    return JSON.parse(stdout);
  } catch {
    return { message: 'npm audit printed no report' };
  }
}

/**
 * One line for each advisory: the package, its id and its title. Packages that are only hit through another are left to
 * that one.
 */
function advisoriesOf({ vulnerabilities }) {
  const entries = Object.values(vulnerabilities).flatMap(({ via }) => via.filter((each) => typeof each === 'object'));
  return entries.map(({ name, title, url, severity }) => ({
    id: url.slice(url.lastIndexOf('/') + 1),
    line: `${name}: ${title} (${severity}, ${url})`,
  }));
}

const report = askRegistry();
if (report.vulnerabilities === undefined) {
  console.log(
    `npm audit: not run, the registry did not answer (${report.message ?? report.error?.summary ?? 'no reason given'})`,
  );
} else {
  const open = advisoriesOf(report).filter(({ id }) => !judged.includes(id));
  for (const { line } of open) console.log(`not judged in SECURITY.md: ${line}`);
  console.log(`npm audit: ${open.length} findings that nobody has judged`);
  process.exitCode = open.length === 0 ? 0 : 1;
}
