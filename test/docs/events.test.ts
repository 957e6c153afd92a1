/** docs/reference/events.md shows every event of the feed with the fields that it has. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { readText, sectionOf, tableRows } from './markdown.ts';

const PAGE = readText('docs/reference/events.md');
const SOURCE = readText('src/calls/feed/events.ts');
const TRANSCRIPTION = readdirSync(packagePath('src', 'transcription'))
  .map((file) => readText(`src/transcription/${file}`))
  .join('\n');

/** The fields of each event type, read from the interfaces of the code: type → names. */
function eventsOfCode(): Map<string, string[]> {
  const interfaces = [...SOURCE.matchAll(/export interface \w+Event \{(.*?)\n\}/gs)].map(([, body = '']) => body);
  return new Map(
    interfaces.flatMap((body) => {
      const names = [...body.matchAll(/^ {2}readonly (\w+):/gm)].map(([, name = '']) => name);
      const types = [...(/readonly type: ([^;]+);/.exec(body)?.[1] ?? '').matchAll(/'([^']+)'/g)];
      return types.map(([, type = '']) => [type, names] as const);
    }),
  );
}

/** The examples of the page. */
function examples(): Record<string, unknown>[] {
  return [...PAGE.matchAll(/```json\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  );
}

/** The literals of the type `name` in `source`. */
function literalsOf(source: string, name: string): string[] {
  const text = new RegExp(`export type ${name} =([^;]+);`).exec(source)?.[1] ?? '';
  return [...text.matchAll(/'([^']+)'/g)].map(([, literal = '']) => literal);
}

/** The names in the first cells of the table below `heading`. */
function namesUnder(heading: string): string[] {
  return tableRows(sectionOf(PAGE, heading)).flatMap(([first = '']) =>
    [...first.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}

describe('docs/reference/events.md', () => {
  it('has an example of each event, with its fields', () => {
    const shown = examples().map((example) => [example['type'], Object.keys(example).sort()]);
    const expected = [...eventsOfCode()].map(([type, names]) => [type, names.toSorted()]);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(expected));
    expect(shown.length).toBe(expected.length);
  });

  it('explains each reason of a gap and of an end', () => {
    const gapReasons = [...literalsOf(TRANSCRIPTION, 'LossReason'), ...literalsOf(SOURCE, 'GapReason')];
    expect(
      namesUnder('### gap')
        .filter((name) => name !== 'reason')
        .sort(),
    ).toEqual(gapReasons.sort());
    expect(namesUnder('### call.ended').sort()).toEqual(literalsOf(SOURCE, 'EndReason').sort());
    expect(gapReasons.length).toBeGreaterThan(3);
  });
});
