/** The verb `http`. */
import type { z } from 'zod';
import { promptSchema } from '../file/prompts.ts';
import { askServer, serverSchema } from './ask-server.ts';
import { checkRequest } from './check-server.ts';
import { targetSchema } from './schemas.ts';
import type { StepExit, StepTools } from './step.ts';
import { defineVerb, exit, wordsFor } from './verb.ts';

const schema = serverSchema.extend({
  waiting: promptSchema.optional().describe('Said meanwhile'),
  failed: targetSchema.optional(),
});
type Http = z.infer<typeof schema>;

/** Asks a server, and says something meanwhile. The flow goes on when both are done. */
export const http = defineVerb({
  schema: schema.describe('Asks a web server'),
  takes: 'no time',
  exits: ({ failed }) => exit('failed', failed),
  prompts: ({ waiting }) => wordsFor('waiting', waiting && [waiting]),
  check: checkRequest,
  exitWithout: ({ failed }) => failed ?? null,
  run: runHttp,
});

async function runHttp(fields: Http, tools: StepTools): Promise<StepExit> {
  const { waiting } = fields;
  const [said, asked] = await Promise.allSettled([
    waiting === undefined ? Promise.resolve() : tools.say(waiting),
    askServer(fields, tools),
  ]);
  if (asked.status === 'rejected') throw asked.reason;
  if (said.status === 'rejected') throw said.reason;
  return null;
}
