/** FLOWS_DIR/numbers.yaml: which flow answers which number. */
import { z } from 'zod';
import {
  type NumberPattern,
  numberPattern,
  refuseTwins,
  writtenNumberSchema,
} from '../../calls/language/numbers-file.ts';
import { didYouMean } from '../../foundation/nearest-name.ts';
import { parseYaml } from '../../foundation/yaml-text.ts';
import { nameSchema } from './prompts.ts';

const NUMBERS_MAX = 2000;

/** What stands in numbers.yaml. */
export const flowNumbersSchema = z.strictObject({
  numbers: z.array(z.strictObject({ number: writtenNumberSchema, flow: nameSchema })).max(NUMBERS_MAX),
});

/** The flow of a number, or of all numbers that begin alike. */
export interface FlowNumber extends NumberPattern {
  readonly flow: string;
}

/**
 * Reads `{numbers: [{number, flow}]}`: numbers that are called, or users of SIP addresses. `path` is for messages.
 * @throws FileError for the first thing that is wrong, also a flow that is not among `flows`
 */
export function parseFlowNumbers(text: string, path: string, flows: ReadonlySet<string>): FlowNumber[] {
  let entries: FlowNumber[] = [];
  parseYaml(text, path, flowNumbersSchema, ({ numbers }, refuse) => {
    entries = numbers.map(({ number, flow }) => ({ ...numberPattern(number), flow }));
    refuseTwins(entries, refuse);
    entries.forEach(({ flow }, at) => {
      if (!flows.has(flow)) refuse(['numbers', at, 'flow'], `there is no flow ${flow}${didYouMean(flow, flows)}`);
    });
  });
  return entries;
}
