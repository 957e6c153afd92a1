/** Who talks in a call: an app that is dialled at once, or whatever the app's own TwiML says. */

import { AppSocket } from './app-socket.ts';
import type { CallApp, CallAppOptions } from './call-app.ts';
import { readAppRequest, twimlUrlOf } from './request.ts';
import { type Beginning, TwimlFollower } from './twiml/follower.ts';

/** Dials the call's app, or asks for its TwiML; null when the call has neither, or its carrier takes no sound. */
export function openCallApp(options: CallAppOptions): CallApp | null {
  const { start, context } = options;
  if (start.playback === 'none') return null;
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
  return url === null ? null : { type: 'document', link: { url, method: 'POST' } };
}
