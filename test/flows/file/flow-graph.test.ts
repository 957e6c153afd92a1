import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { flowSchema } from '../../../src/flows/file/flow-file.ts';
import { exitsOf, graphOf } from '../../../src/flows/file/flow-graph.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { parseYaml } from '../../../src/foundation/yaml-text.ts';

const PROMPT = { text: 'What?' };

function flowOf(name: string) {
  const path = packagePath('dialplans', 'ivr', `${name}.yaml`);
  return parseYaml(readFileSync(path, 'utf8'), path, flowSchema);
}

describe('a flow as a graph', () => {
  it.each(['shop', 'appointment', 'order-status'])('has every step of %s, and every target is a step', (name) => {
    const flow = flowOf(name);
    const { nodes, start } = graphOf(flow);
    const names = nodes.map((node) => node.name);
    expect(names).toEqual(Object.keys(flow.steps));
    expect(names).toContain(start);
    for (const { exits } of nodes)
      for (const { to } of exits) expect([...names, 'end', 'back', 'repeat']).toContain(to);
  });

  it('says of each exit where its target stands in the file', () => {
    const { steps } = flowOf('appointment');
    for (const step of Object.values(steps))
      for (const { path, to } of exitsOf(step)) {
        const found = path?.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], step);
        expect(found ?? 'end').toBe(to);
      }
  });

  it('names choices with their keys, conditions and ways that nobody wrote', () => {
    const choices = { sales: { key: '1', next: 'sell' }, other: { next: 'person' }, hear: { key: '9' } };
    const noMatch = { next: 'person' };
    const menu = { menu: { prompt: PROMPT, choices, noMatch } };
    expect(exitsOf(menu).map(({ reason, to, detail }) => [reason, to, detail])).toEqual([
      ['choice', 'sell', '1 sales'],
      ['choice', 'person', 'other'],
      ['noMatch', 'person', null],
      ['next', 'end', null],
    ]);
    const when = [
      { if: { variable: 'age', atLeast: 18, below: 65 }, next: 'adult' },
      {
        if: [
          { variable: 'name', isSet: false },
          { variable: 'land', oneOf: ['de', 'at'] },
        ],
        next: 'ask',
      },
    ];
    expect(exitsOf({ branch: { when, else: 'child' } }).map(({ to, detail }) => [to, detail])).toEqual([
      ['adult', 'age at least 18 and below 65'],
      ['ask', 'name is not set, land is one of de, at'],
      ['child', null],
    ]);
    expect(exitsOf({ hangup: {} })).toEqual([]);
    expect(exitsOf({ confirm: { prompt: PROMPT, yes: 'a', no: 'repeat' } }).map(({ to }) => to)).toEqual([
      'a',
      'repeat',
    ]);
  });
});
