/** The verb `app`: a program has the caller for a while. */
import { z } from 'zod';
import { AppSocket } from '../../calls/app/app-socket.ts';
import { readAppRequest } from '../../calls/app/request.ts';
import { type FlowValue, valueSchema, variableSchema } from '../file/conditions.ts';
import type { FlowFinding } from '../file/flow-finding.ts';
import { checkUrl, WEB_SOCKET } from './check-url.ts';
import { fillUrl } from './fill-url.ts';
import { targetSchema, urlSchema } from './schemas.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';
import { resolveValue } from './values.ts';
import { defineVerb, exit } from './verb.ts';

const schema = z.strictObject({
  url: urlSchema.optional().describe('APP_URL unless given'),
  greeting: z.string().max(2000).optional(),
  parameters: z.record(z.string(), valueSchema).optional(),
  into: variableSchema.optional().describe('Gets what the app hands over'),
  failed: targetSchema.optional(),
});
type AppFields = z.infer<typeof schema>;

/** Gives the caller to an app by its WebSocket, until it ends the session. What it hands over goes into a variable. */
export const app = defineVerb({
  schema: schema.describe('Hands over to a text app and back'),
  takes: 'caller',
  shape: ['([', '])'],
  exits: ({ failed }) => exit('failed', failed),
  says: ({ greeting }) => greeting ?? null,
  check: ({ url }, path): FlowFinding[] => (url === undefined ? [] : checkUrl(url, [...path, 'url'], WEB_SOCKET)),
  exitWithout: ({ failed }) => failed ?? null,
  run: runApp,
});

async function runApp(fields: AppFields, tools: StepTools): Promise<StepExit> {
  const { variables, world, signal, call } = tools;
  const url = fields.url === undefined ? null : fillUrl(fields.url, variables);
  const handed =
    world.app === undefined
      ? await talk(url ?? call.context.settings.APP_URL, fields, tools)
      : await standIn(world.app(url, signal));
  if (fields.into !== undefined) variables.set(fields.into, handed);
  return null;
}

async function standIn(answer: Promise<FlowValue>): Promise<FlowValue> {
  try {
    return await answer;
  } catch {
    throw new StepFailure('the app cannot be reached');
  }
}

async function talk(url: string, fields: AppFields, tools: StepTools): Promise<string | null> {
  if (url === '') throw new StepFailure('there is no app: neither the step nor APP_URL names one');
  if (!URL.canParse(url) || !/^wss?:$/.test(new URL(url).protocol))
    throw new StepFailure('the address of the app is no ws or wss URL');
  const { call, signal, variables } = tools;
  const request = readAppRequest(parametersOf(fields, tools), { ...call.context.settings, APP_URL: url });
  if (request === null) throw new StepFailure('there is no app');
  const greeting = fields.greeting === undefined ? '' : variables.fill(fields.greeting);
  let app: AppSocket | null = null;
  const leave = new AbortController();
  try {
    return await new Promise<string | null>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new StepFailure('the step was left')), { signal: leave.signal });
      app = new AppSocket({
        ...call,
        request: { ...request, url, greeting },
        onEnd: resolve,
        onGone: () => reject(new StepFailure('the app cannot be reached, or is gone')),
      });
      tools.handTo(app);
    });
  } finally {
    leave.abort();
    tools.handTo(null);
    (app as AppSocket | null)?.close();
  }
}

/** Those of the call, and of the step before them. */
function parametersOf(fields: AppFields, { call, variables }: StepTools): Record<string, string> {
  const own = Object.entries(fields.parameters ?? {}).map(([name, written]) => {
    const value = resolveValue(written, variables);
    return [name, value === null ? '' : String(value)] as const;
  });
  const rest = Object.entries(call.start.parameters).filter(([name]) => !/^(?:app|twiml|flow)$/i.test(name));
  return { ...Object.fromEntries(rest), ...Object.fromEntries(own) };
}
