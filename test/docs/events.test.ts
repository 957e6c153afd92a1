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

/** The fields that an event always has, and those that it may have. */
interface Fields {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** The fields of each event type, read from the interfaces of the code. */
function eventsOfCode(): Map<string, Fields> {
  const interfaces = [...SOURCE.matchAll(/export interface \w+Event \{(.*?)\n\}/gs)].map(([, body = '']) => body);
  return new Map(
    interfaces.flatMap((body) => {
      const named = (mark: RegExp): string[] => [...body.matchAll(mark)].map(([, name = '']) => name).sort();
      const fields = { required: named(/^ {2}readonly (\w+):/gm), optional: named(/^ {2}readonly (\w+)\?:/gm) };
      const types = [...(/readonly type: ([^;]+);/.exec(body)?.[1] ?? '').matchAll(/'([^']+)'/g)];
      return types.map(([, type = '']) => [type, fields] as const);
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
    const code = eventsOfCode();
    for (const example of examples()) {
      const { required = [], optional = [] } = code.get(String(example['type'])) ?? {};
      const names = Object.keys(example).filter((name) => !optional.includes(name));
      expect(names.sort()).toEqual(required);
    }
    const shown = new Set(examples().map((example) => example['type']));
    expect(shown).toEqual(new Set(code.keys()));
  });

  it('explains each field that an event may have', () => {
    const optional = [...eventsOfCode().values()].flatMap((fields) => fields.optional);
    expect(optional).toContain('confidence');
    expect(optional.filter((name) => !PAGE.includes(`\`${name}\``) && !PAGE.includes(`"${name}"`))).toEqual([]);
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
