import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settingsPage } from '../../../scripts/settings-page.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { isEveryday, SETTING_GROUPS, SETTINGS, type SettingName } from '../../../src/foundation/settings/settings.ts';

const NAMES = Object.keys(SETTINGS) as SettingName[];

describe('docs/reference/settings.md', () => {
  const page = settingsPage();

  it('is what `npm run docs` writes', () => {
    expect(readFileSync(packagePath('docs', 'reference', 'settings.md'), 'utf8')).toBe(page);
  });

  it('has a row for each setting, the everyday ones before the others, and at most 50', () => {
    const listed = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(listed).toEqual(NAMES);
    const everyday = page.slice(0, page.indexOf('## Further settings'));
    expect(NAMES.filter(isEveryday).length).toBeLessThanOrEqual(50);
    for (const name of NAMES) expect(everyday.includes(`| \`${name}\` |`)).toBe(isEveryday(name));
  });

  it('says what each setting takes and what it does', () => {
    expect(page).toContain(
      '| `PORT` | `8080` | port, 0 to 65535 | Port on which the server listens. 0 = any free port. |',
    );
    expect(page).toContain('| `BARGE_IN` | `any` | off, speech, dtmf, any | How a caller can interrupt');
    expect(page).toContain('| `APP_GREETING` | empty | text | ');
  });
});

describe('the settings', () => {
  it('are in one group each', () => {
    const grouped = SETTING_GROUPS.flatMap(({ everyday, further }) => [
      ...Object.keys(everyday),
      ...Object.keys(further),
    ]);
    expect(grouped.toSorted()).toEqual(NAMES.toSorted());
  });

  it.each(NAMES)('%s is described by sentences that fit a table', (name) => {
    expect(SETTINGS[name].meaning).toMatch(/^[^|\n]+\.$/);
  });
});
