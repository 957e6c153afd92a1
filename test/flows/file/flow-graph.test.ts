import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FlowStep } from '../../../src/flows/file/flow.ts';
import { flowSchema } from '../../../src/flows/file/flow-file.ts';
import { exitsOf, nodesOf } from '../../../src/flows/file/flow-graph.ts';
import { readFlow } from '../../../src/flows/file/read-flow.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { parseYaml } from '../../../src/foundation/yaml-text.ts';

function textOf(name: string): string {
  return readFileSync(packagePath('dialplans', 'ivr', `${name}.yaml`), 'utf8');
}

function flowOf(text: string) {
  const { flow, errors } = readFlow(text, 'shop');
  if (flow === null) throw new Error(JSON.stringify(errors));
  return flow;
}

describe('a flow as a graph', () => {
  it.each(['shop', 'appointment', 'order-status'])('has every step of %s, and every target is a step', (name) => {
    const flow = flowOf(textOf(name));
    const nodes = nodesOf(flow);
    const names = nodes.map((node) => node.name);
    expect(names).toEqual([...flow.steps.keys()]);
    expect(names).toContain(flow.start);
    for (const { exits } of nodes)
      for (const { to } of exits) expect([...names, 'end', 'back', 'repeat']).toContain(to);
  });

  it.each(['shop', 'appointment'])('says of each exit where its target stands in %s', (name) => {
    const written = parseYaml(textOf(name), 'file.yaml', flowSchema);
    for (const step of flowOf(textOf(name)).steps.values())
      for (const { path, to } of exitsOf(step)) {
        const found = path?.reduce<unknown>(
          (value, key) => (value as Record<string | number, unknown>)[key],
          written.steps[step.name],
        );
        expect(found ?? 'end').toBe(to);
      }
  });

  it('names choices with their keys, conditions and ways that nobody wrote', () => {
    const flow = flowOf(`
version: 1
start: ask
variables: { age: 18, name: Ann, land: de }
steps:
  ask:
    menu:
      prompt: What?
      into: wish
      choices:
        sales: { key: '1', next: age }
        other: { next: person }
        hear: { key: '9' }
      noMatch: { next: person }
  age:
    branch:
      when:
        - { if: { variable: age, atLeast: 18, below: 65 }, next: person }
        - if:
            - { variable: name, isSet: false }
            - { variable: land, oneOf: [de, at] }
          next: ask
      else: who
  who: { flow: { name: identify }, next: sure }
  sure: { confirm: { prompt: { recording: sure }, yes: person, no: repeat } }
  person: { hangup: { prompt: Bye } }
`);
    const read = ({ exits }: { exits: readonly ReturnType<typeof exitsOf>[number][] }) =>
      exits.map(({ reason, to, detail }) => [reason, to, detail]);
    const [ask, age, who, sure, person] = nodesOf(flow);
    expect(ask && read(ask)).toEqual([
      ['choice', 'age', '1 sales'],
      ['choice', 'person', 'other'],
      ['noMatch', 'person', null],
      ['next', 'end', null],
    ]);
    expect(age && read(age)).toEqual([
      ['when', 'person', 'age at least 18 and below 65'],
      ['when', 'ask', 'name is not set, land is one of de, at'],
      ['else', 'who', null],
    ]);
    expect(who).toMatchObject({ calls: 'identify', says: null, exits: [{ reason: 'next', to: 'sure' }] });
    expect(sure).toMatchObject({ says: '♪ sure', exits: [{ to: 'person' }, { to: 'repeat' }] });
    expect(person).toMatchObject({ says: 'Bye', exits: [] });
  });

  it('has the first words of every verb that says something', () => {
    const says = (step: Pick<FlowStep, 'verb' | 'fields'>) => {
      const steps = new Map([['a', { name: 'a', next: null, ...step } as FlowStep]]);
      return nodesOf({ steps })[0]?.says;
    };
    expect(says({ verb: 'say', fields: { text: 'Hello' } })).toBe('Hello');
    expect(says({ verb: 'say', fields: { text: 'Hello', recording: 'hello' } })).toBe('Hello');
    expect(says({ verb: 'play', fields: { recording: 'music' } })).toBe('♪ music');
    expect(says({ verb: 'http', fields: { url: 'https://a', waiting: { text: 'One moment' } } })).toBe('One moment');
    expect(says({ verb: 'set', fields: {} })).toBeNull();
  });
});
