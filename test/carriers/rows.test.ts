/** What CONTRIBUTING asks of a new carrier beside its folder, for each carrier in the list of parts. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { PARTS } from '../../src/gateway/parts.ts';
import type { Part } from '../../src/parts/part.ts';
import { pretendCarrier } from '../fakes/parts/pretend-carrier/part.ts';
import { CARRIER_LINES } from '../helpers/carrier-lines.ts';
import { isStreamCarrier } from '../helpers/stream-carriers.ts';

/** Of this server's own: nobody connects them. */
const OWN = ['browser', 'demo'];

const textOf = (path: string): string => readFileSync(packagePath(path), 'utf8');

/** What `part` lacks, each with what is to be added. */
function lacks(part: Part): string[] {
  const { name, carriers = [], waysIn = [] } = part;
  const people = carriers.filter(({ id }) => !OWN.includes(id));
  const readMe = textOf('README.md');
  const guide = textOf('docs/guide/README.md');
  const reference = textOf('docs/reference/http-api.md');
  const problems: [boolean, string][] = [
    ...people.map(({ name: shown }): [boolean, string] => [readMe.includes(shown), `README.md: name ${shown}`]),
    ...people.map(({ name: shown }): [boolean, string] => [
      guide.includes(shown),
      `docs/guide/README.md: name ${shown}`,
    ]),
    ...waysIn.map(({ route = '' }): [boolean, string] => [
      route === '' || reference.includes(`${route}\``),
      `docs/reference/http-api.md: a row for ${route}`,
    ]),
    ...carriers.map(({ id }): [boolean, string] => [
      waysIn.length > 0 && (OWN.includes(id) || waysIn.some((way) => way.id === id)),
      `src/carriers/${name}/part.ts: a way in whose id is ${id}`,
    ]),
    ...(isStreamCarrier(part) ? streamRows(name) : []),
  ];
  return problems.flatMap(([isThere, what]) => (isThere ? [] : what));
}

function streamRows(name: string): [boolean, string][] {
  const ofItsOwn = existsSync(packagePath(`test/calls/${name}-call.test.ts`));
  const isCalled = ofItsOwn || CARRIER_LINES.some(({ carrier }) => carrier === name);
  const files = [`fixtures/wire/${name}`, `test/fuzz/targets/${name}.ts`, `dialplans/${name}`];
  return [
    [isCalled, `test/helpers/carrier-lines.ts: a line for ${name}`],
    [textOf('dialplans/README.md').includes(`(${name}/`), `dialplans/README.md: a row for ${name}`],
    ...files.map((path): [boolean, string] => [existsSync(packagePath(path)), path]),
  ];
}

it.each(PARTS.filter(({ carriers = [] }) => carriers.length > 0).map((part) => [part.name, part] as const))(
  '%s is in the documents and the tests',
  (_name, part) => {
    expect(lacks(part)).toEqual([]);
  },
);

it('says what a carrier lacks', () => {
  expect(lacks(pretendCarrier)).toEqual([
    'README.md: name Pretend Telephone',
    'docs/guide/README.md: name Pretend Telephone',
    'docs/reference/http-api.md: a row for /pretend/media',
    'test/helpers/carrier-lines.ts: a line for pretend',
    'dialplans/README.md: a row for pretend',
    'fixtures/wire/pretend',
    'test/fuzz/targets/pretend.ts',
    'dialplans/pretend',
  ]);
});
