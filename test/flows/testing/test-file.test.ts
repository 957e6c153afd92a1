import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findUnknownSteps, readTestFile, readTests } from '../../../src/flows/testing/read-test-file.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';

const FOLDER = packagePath('dialplans', 'ivr');
const TESTS = readdirSync(FOLDER).filter((name) => name.endsWith('.test.yaml'));

const read = (...lines: string[]) => readTestFile(lines.join('\n'), 'shop.test.yaml');
const scriptOf = (...lines: string[]) =>
  read('version: 1', 'tests:', '  - name: a', '    script:', ...lines.map((line) => `      - ${line}`));

describe('a file of tests', () => {
  it.each(TESTS)('%s of the examples is read', (name) => {
    const { flow, tests } = readTestFile(readFileSync(join(FOLDER, name), 'utf8'), name);
    expect(name).toBe(`${flow}.test.yaml`);
    expect(tests.length).toBeGreaterThan(4);
  });

  it('calls the flow that it is named after, or the one that it names', () => {
    const script = ['tests:', '  - name: a', '    script: [{ hangup: true }]'];
    expect(read('version: 1', ...script).flow).toBe('shop');
    expect(read('version: 1', 'flow: other', ...script).flow).toBe('other');
  });

  it('takes one key with or without quotes, several with quotes', () => {
    const keys = scriptOf('press: 1', "press: '0123#'").tests[0]?.script.map(({ press }) => press);
    expect(keys).toEqual([1, '0123#']);
    expect(() => scriptOf('press: 0123')).toThrow(/shop\.test\.yaml:5:16: .*quotes/);
  });

  it.each([
    ['a line with two actions', ['{ say: a, press: 1 }'], /5:9: .*expected one of say, press/],
    ['a line without any', ['{}'], /5:9: .*expected one of/],
    ['an expectation of nothing', ['expect: { withinMs: 5 }'], /5:17: .*expected something/],
    ['a word that is not known', ['shout: a'], /5:9: .*shout/],
    ['keys that no phone has', ['press: 1A'], /5:16: .*0 to 9/],
    ['a cut in with nothing', ['cutIn: { afterMs: 500 }'], /5:16: .*say or press/],
  ])('refuses %s', (_, lines, message) => {
    expect(() => scriptOf(...lines)).toThrow(message);
  });

  it('takes what is often written in its place', () => {
    const { tests } = read(
      'version: 1',
      'tests:',
      '  - { name: a, at: 2026-11-23 22:00, script: [hangup], steps: bye }',
    );
    expect(tests).toEqual([{ name: 'a', at: '2026-11-23T22:00', script: [{ hangup: true }], steps: ['bye'] }]);
  });

  it('tells all that is wrong, and where the lines of its scripts stand', () => {
    const text = [
      'version: 1',
      'at: noon',
      'tests:',
      '  - name: a',
      '    script:',
      '      - hangup',
      '      - shout: a',
    ];
    expect(() => read(...text)).toThrow(/^shop\.test\.yaml:2:5: at: .*\nshop\.test\.yaml:7:9: .*shout[^\n]*$/);
    const script = ['    script:', '      - press: 1', '      - expect:', '          said: Bye', '      - hangup'];
    expect(read('version: 1', 'tests:', '  - name: a', ...script).lines).toEqual([[5, 6, 8]]);
  });

  it('may name steps that its flow does not have', () => {
    const text = [
      'version: 1',
      'tests:',
      '  - name: a',
      '    script: [{ expect: { step: mneu } }, { expect: { step: menu } }]',
      '    steps: [menu, buy]',
      '    notSteps: bye',
    ];
    const found = findUnknownSteps(readTests(text.join('\n'), 'shop.test.yaml'), new Set(['menu', 'bye']));
    expect(found.map(({ line, column, message }) => `${line}:${column}: ${message}`)).toEqual([
      '4:32: tests.0.script.0.expect.step: the flow has no step mneu, did you mean menu?',
      '5:19: tests.0.steps.1: the flow has no step buy',
    ]);
  });

  it('refuses two tests of one name, and a time that is none', () => {
    const one = ['  - name: a', '    script: [{ hangup: true }]'];
    expect(() => read('version: 1', 'tests:', ...one, ...one)).toThrow(/5:11: .*this name already/);
    expect(() => read('version: 1', 'at: noon', 'tests:', ...one)).toThrow(/2:5: at: got "noon", expected a time/);
  });
});
