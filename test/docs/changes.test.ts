import { describe, expect, it } from 'vitest';
import { addVersion, checkFragment, readFragments } from '../../scripts/release.ts';

const CHANGELOG = '# Changelog\n\nThe newest first.\n\n## 0.2.0 (2026-11-24)\n\n- Old.\n';

describe('a version', () => {
  it('stands before all others, with what stops first', () => {
    const fragments = new Map([
      ['mended-b.md', '- B.\n'],
      ['new-a.md', '- A,\n  in two lines.\n'],
      ['stops-c.md', '- C.\n'],
    ]);
    expect(addVersion(CHANGELOG, fragments, '0.3.0', '2027-01-02')).toBe(
      '# Changelog\n\nThe newest first.\n\n## 0.3.0 (2027-01-02)\n\n' +
        '**Installs that stop, or behave otherwise, until they are changed**\n\n- C.\n\n' +
        '**What is new**\n\n- A,\n  in two lines.\n\n**What was wrong**\n\n- B.\n\n## 0.2.0 (2026-11-24)\n\n- Old.\n',
    );
  });

  it('is not made of nothing', () => {
    expect(() => addVersion(CHANGELOG, new Map(), '0.3.0', '2027-01-02')).toThrow('nothing to release');
  });
});

describe('a change', () => {
  it.each([
    ['another kind', 'fixed-a.md', '- A.'],
    ['another ending', 'new-a.txt', '- A.'],
    ['capitals', 'new-A.md', '- A.'],
    ['a text that is no list', 'new-a.md', 'A.'],
  ])('is refused with %s', (_what, name, text) => {
    expect(() => checkFragment(name, text)).toThrow(`changes/${name}: expected`);
  });

  it('is as it should be, each in this repository', () => {
    expect(() => readFragments()).not.toThrow();
  });
});
