import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { flowSchemas } from '../../../src/flows/json-schemas.ts';
import { FLOW_VERBS } from '../../../src/flows/verbs/table.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';

describe('the JSON Schemas of flows', () => {
  it.each([...flowSchemas()])('%s is what `npm run docs` writes', (name, text) => {
    expect(readFileSync(packagePath('docs', 'reference', name), 'utf8')).toBe(text);
  });

  it('say of each verb what it does, and of a step that it has one', () => {
    const schema = JSON.parse(flowSchemas().get('flow.schema.json') ?? '');
    const { properties, oneOf, additionalProperties } = schema.properties.steps.additionalProperties;
    expect(Object.keys(properties)).toEqual([...FLOW_VERBS, 'next', 'about']);
    for (const verb of FLOW_VERBS) expect(properties[verb].description).toMatch(/^[A-Z]/);
    expect(oneOf).toHaveLength(FLOW_VERBS.length);
    expect(additionalProperties).toBe(false);
  });
});
