/** The JSON Schemas of flows and of their tests, for editors. */
import { z } from 'zod';
import { flowSchema } from './file/flow-file.ts';
import { flowNumbersSchema } from './file/flow-numbers.ts';
import { testFileSchema } from './testing/test-file.ts';
import { FLOW_VERBS } from './verbs/table.ts';

const MADE = 'npm run docs writes this file from src/flows. Do not edit it.';

let made: ReadonlyMap<string, string> | null = null;

/** The texts of the files of docs/reference, by their names. Made once, as they take 10 ms. */
export function flowSchemas(): ReadonlyMap<string, string> {
  made ??= makeFlowSchemas();
  return made;
}

function makeFlowSchemas(): ReadonlyMap<string, string> {
  return new Map([
    ['flow.schema.json', textOf(flowJsonSchema(), 'A flow of Trunkline')],
    ['flow-test.schema.json', textOf(z.toJSONSchema(testFileSchema, { io: 'input' }), 'Tests of a flow of Trunkline')],
    ['flow-numbers.schema.json', textOf(z.toJSONSchema(flowNumbersSchema, { io: 'input' }), 'Numbers of flows')],
  ]);
}

/** That each step does one thing is said here, too: the program says it in its own words. */
function flowJsonSchema(): object {
  return z.toJSONSchema(flowSchema, {
    io: 'input',
    override({ path, jsonSchema }) {
      if (path.join('/') === 'properties/steps/additionalProperties')
        jsonSchema.oneOf = FLOW_VERBS.map((verb) => ({ required: [verb] }));
    },
  });
}

function textOf(schema: object, title: string): string {
  return `${JSON.stringify({ title, $comment: MADE, ...schema }, null, 2)}\n`;
}
