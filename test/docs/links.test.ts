/** Documents lead to files and headings that exist. */
import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { anchorsOf, markdownFiles, readText, withoutCode } from './markdown.ts';

const FILES = markdownFiles();
/** Links to other sites and mail addresses are not followed. */
const LINK = /\]\((?![a-z]+:)([^)\s]+)\)/g;
/** A path of ours that a text names, such as src/gateway/main.ts. Placeholders (`<name>`, `…`) are no paths. */
const NAMED_PATH =
  /(?<![\w./:<-])(?:src|engine|test|docs|examples|fixtures|dialplans|scripts)\/(?:[\w.-]+\/)*[\w-]+(?:\.\w+)+(?![\w<…*{])/g;
/** They tell of the past, or of other people's repositories. */
const HISTORY = ['CHANGELOG.md', 'docs/internals/tried.md', 'docs/internals/benchmarks/compare.md'];

/** The links of `file` whose file or heading is missing. */
function deadLinks(file: string): string[] {
  return [...withoutCode(readText(file)).matchAll(LINK)]
    .map(([, target = '']) => target)
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const found = path === '' ? file : posix.normalize(posix.join(posix.dirname(file), path));
      if (!existsSync(packagePath(found))) return true;
      return anchor !== undefined && found.endsWith('.md') && !anchorsOf(readText(found)).includes(anchor);
    });
}

describe('links', () => {
  it.each(FILES)('of %s lead to files and headings that exist', (file) => {
    expect(deadLinks(file)).toEqual([]);
  });

  it('are found', () => {
    const count = FILES.flatMap((file) => [...withoutCode(readText(file)).matchAll(LINK)]).length;
    expect(count).toBeGreaterThan(200);
    expect(FILES).toEqual(expect.arrayContaining(['README.md', 'docs/guide/sip.md', 'dialplans/exotel/applets.md']));
  });

  it('have the anchors that GitHub gives to headings', () => {
    const markdown =
      "# The app's own TwiML\n\n```\n# no heading\n```\n## `WS` — speech.started, it\n## The app's own TwiML\n";
    expect(anchorsOf(markdown)).toEqual(['the-apps-own-twiml', 'ws--speechstarted-it', 'the-apps-own-twiml-1']);
  });
});

describe('paths', () => {
  it.each(FILES.filter((file) => !HISTORY.includes(file)))('that %s names exist', (file) => {
    const named = [...readText(file).matchAll(NAMED_PATH)].map(([path]) => path);
    const missing = named.filter(
      (path) => !existsSync(packagePath(path)) && !existsSync(packagePath(join(dirname(file), path))),
    );
    expect(missing).toEqual([]);
  });

  it('are found', () => {
    expect([...readText('CONTRIBUTING.md').matchAll(NAMED_PATH)].length).toBeGreaterThan(5);
  });
});
