/** Asks a server for a step, and takes what the flow wants of its answer. */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { pause } from '../../foundation/abortable-pause.ts';
import { PrivateAddressError } from '../../foundation/addresses.ts';
import { FetchError, guardedFetch, networkCode, readBody, withinTime } from '../../foundation/guarded-fetch.ts';
import { operatorTargets } from '../../foundation/outbound-targets.ts';
import { signedHeaders } from '../../foundation/webhooks/sign-webhook.ts';
import { type FlowValue, valueSchema, variableSchema } from '../file/conditions.ts';
import { fillUrl } from './fill-url.ts';
import type { FlowAnswer, FlowRequest } from './flow-world.ts';
import { readJsonPath, valueAt } from './json-path.ts';
import { durationMs, urlSchema } from './schemas.ts';
import { StepFailure, type StepTools, type Variables } from './step.ts';
import { resolveValue } from './values.ts';

const TIMEOUT_MS = 5000;
const ANSWER_MAX_BYTES = 262_144;
const BODY_MAX_CHARS = 65_536;
/** A server that is being started again: nothing of the request has reached it. */
const TRIES_MAX = 3;
const RETRY_MS = 250;

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** Headers that are the connection's, not the flow's. */
const OWN_HEADERS = ['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'expect', 'te', 'trailer'];

/** A path that is wrong is told with what came, and not in the first call. */
const jsonPathSchema = z.string().superRefine((path, context) => {
  try {
    readJsonPath(path);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});

/** What a step says of a request. */
export const serverSchema = z.strictObject({
  url: urlSchema,
  method: z.enum(['GET', 'POST']).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  query: z.record(z.string(), valueSchema).optional(),
  body: z.record(z.string(), valueSchema).optional().describe('Sent as JSON'),
  timeoutMs: durationMs(30_000).optional().describe('5000'),
  take: z.record(variableSchema, jsonPathSchema).optional().describe('JSON paths (RFC 9535) into variables'),
});

/** The same, read. */
export type ServerFields = z.infer<typeof serverSchema>;

type Tools = Pick<StepTools, 'call' | 'variables' | 'world' | 'signal'>;

/** Sends the request, and sets the variables of `take`. @throws StepFailure */
export async function askServer(fields: ServerFields, tools: Tools): Promise<void> {
  const paths = Object.entries(fields.take ?? {}).map(([name, path]) => [name, path, readPath(path)] as const);
  const request = requestOf(fields, tools.variables);
  const { status, body } = await answerTo(request, fields.timeoutMs ?? TIMEOUT_MS, tools);
  if (status < 200 || status >= 300) throw new StepFailure(`the server answered ${status}, expected 200 to 299`);
  if (paths.length === 0) return;
  const json = readAnswer(body);
  for (const [name, path, read] of paths) tools.variables.set(name, flowValueOf(valueAt(json, read), path));
}

/** The request of a step, its variables filled in. */
function requestOf(fields: ServerFields, variables: Pick<Variables, 'get' | 'fill'>): FlowRequest {
  const { headers = {}, query = {}, body, method = body === undefined ? 'GET' : 'POST' } = fields;
  const url = new URL(fillUrl(fields.url, variables));
  for (const [name, written] of Object.entries(query)) {
    const value = resolveValue(written, variables);
    if (value !== null) url.searchParams.append(name, String(value));
  }
  const filled = body === undefined ? null : JSON.stringify(resolveAll(body, variables));
  if (filled !== null && filled.length > BODY_MAX_CHARS)
    throw new StepFailure(`its body has ${filled.length} characters, expected at most ${BODY_MAX_CHARS}`);
  return { url: url.href, method, headers: headersOf(headers, variables, filled !== null), body: filled };
}

/** Values as a flow writes them, with those of its variables. */
function resolveAll(
  written: Readonly<Record<string, FlowValue>>,
  variables: Pick<Variables, 'get' | 'fill'>,
): Record<string, FlowValue> {
  return Object.fromEntries(Object.entries(written).map(([name, value]) => [name, resolveValue(value, variables)]));
}

function headersOf(
  headers: Readonly<Record<string, string>>,
  variables: Pick<Variables, 'fill'>,
  hasBody: boolean,
): Record<string, string> {
  const own: Record<string, string> = hasBody ? { 'content-type': 'application/json' } : {};
  for (const [written, value] of Object.entries(headers)) {
    const name = written.toLowerCase();
    if (!HEADER_NAME.test(name) || OWN_HEADERS.includes(name))
      throw new StepFailure(`its header ${name} cannot be sent`);
    const filled = variables.fill(value);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(filled))
      throw new StepFailure(`its header ${name} has characters that no header can have`);
    own[name] = filled;
  }
  return own;
}

async function answerTo(request: FlowRequest, timeoutMs: number, { call, world, signal }: Tools): Promise<FlowAnswer> {
  const { clock } = call.context;
  try {
    return await withinTime({ clock, timeoutMs, signal }, async (either) => {
      if (world.request !== undefined) return await world.request(request, either);
      for (let tries = 1; ; tries++) {
        try {
          return await send(request, call, either);
        } catch (error) {
          if (networkCode(error) !== 'ECONNREFUSED' || tries === TRIES_MAX) throw error;
          await pause(clock, RETRY_MS, either);
        }
      }
    });
  } catch (error) {
    throw new StepFailure(`the server could not be asked: ${reasonOf(error)}`);
  }
}

async function send(request: FlowRequest, call: StepTools['call'], signal: AbortSignal): Promise<FlowAnswer> {
  const { settings } = call.context;
  const { method, body } = request;
  const headers = { ...signatureOf(body ?? '', call), ...request.headers };
  const { response } = await guardedFetch({
    url: request.url,
    allowPrivate: operatorTargets(settings.OUTBOUND_ALLOW, 'flows'),
    signal,
    redirectsMax: 0,
    prepare: (url) => ({ url, method, headers, ...(body === null ? {} : { body }) }),
  });
  const { statusCode: status = 0 } = response;
  return { status, body: Buffer.from(await readBody(response, ANSWER_MAX_BYTES)).toString() };
}

/** As webhooks are signed (standardwebhooks.com); nothing where there is no key. */
function signatureOf(body: string, { context }: StepTools['call']): Record<string, string> {
  const { FLOW_SIGNING_KEY, WEBHOOK_SECRET } = context.settings;
  const secret = FLOW_SIGNING_KEY || WEBHOOK_SECRET;
  if (secret === '') return {};
  return signedHeaders({ id: `msg_${randomUUID()}`, body, secret }, context.clock);
}

/** Names no host and nothing of the request. */
function reasonOf(error: unknown): string {
  if (error instanceof PrivateAddressError) return 'its address is a private one, which OUTBOUND_ALLOW does not name';
  if (error instanceof FetchError) return error.message;
  return networkCode(error);
}

function readPath(path: string): ReturnType<typeof readJsonPath> {
  try {
    return readJsonPath(path);
  } catch (error) {
    throw new StepFailure(error instanceof RangeError ? error.message : 'a JSON path cannot be read');
  }
}

function readAnswer(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new StepFailure(`the server answered ${body.length} characters that are no JSON`);
  }
}

/** What is not there is null. */
function flowValueOf(value: unknown, path: string): FlowValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new StepFailure(
    `the answer has a list or an object at ${path}, expected a text, a number, true, false or null`,
  );
}
