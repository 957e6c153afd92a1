/** Who talks in a call: a flow, an app that is dialled at once, or whatever the app's own TwiML says. */

import { AppSocket } from './app-socket.ts';
import type { CallApp, CallAppOptions } from './call-app.ts';
import { type CallFlows, chooseFlow } from './call-flows.ts';
import { readAppRequest, twimlUrlOf } from './request.ts';
import { type Beginning, TwimlFollower } from './twiml/follower.ts';

/**
 * Begins the call's flow, dials its app, or asks for its TwiML; null when the call has none of them, or its carrier
 * takes no sound. A flow that is asked for and is not there is as if it was not asked for.
 */
export function openCallApp(options: CallAppOptions, flows: CallFlows | null): CallApp | null {
  const { start, context } = options;
  if (start.playback === 'none') return null;
  const chosen = chooseFlow(start, flows);
  if (chosen !== null && chosen.flow !== null) return chosen.flow.open(options);
  if (chosen !== null) options.log.warn({ flow: chosen.name }, 'the call asks for a flow that is not there');
  const beginning = beginningOf(options);
  if (beginning !== null) return new TwimlFollower({ ...options, beginning });
  const request = readAppRequest(start.parameters, context.settings);
  return request === null
    ? null
    : new AppSocket({ ...options, request, onEnd: (handoffData) => options.onEnd(handoffData, 'app') });
}

function beginningOf({ start, context }: CallAppOptions): Beginning | null {
  if (start.relay !== undefined) return { type: 'session', relay: start.relay };
  const url = twimlUrlOf(start.parameters, context.settings);
  return url === null ? null : { type: 'document', link: { url, method: 'POST', orGet: true } };
}
