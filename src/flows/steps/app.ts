/** The verb `app`: a program has the caller for a while. */
import { AppSocket } from '../../calls/app/app-socket.ts';
import { readAppRequest } from '../../calls/app/request.ts';
import type { FlowValue } from '../file/conditions.ts';
import type { VerbFields } from '../file/verbs.ts';
import { fillUrl } from './fill-url.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';
import { resolveValue } from './values.ts';

/** Gives the caller to an app by its WebSocket, until it ends the session. What it hands over goes into a variable. */
export async function runApp(fields: VerbFields['app'], tools: StepTools): Promise<StepExit> {
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

async function talk(url: string, fields: VerbFields['app'], tools: StepTools): Promise<string | null> {
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
function parametersOf(fields: VerbFields['app'], { call, variables }: StepTools): Record<string, string> {
  const own = Object.entries(fields.parameters ?? {}).map(([name, written]) => {
    const value = resolveValue(written, variables);
    return [name, value === null ? '' : String(value)] as const;
  });
  const rest = Object.entries(call.start.parameters).filter(([name]) => !/^(?:app|twiml|flow)$/i.test(name));
  return { ...Object.fromEntries(rest), ...Object.fromEntries(own) };
}
