/** Messages that callers leave in a call without sound. */
import type { CallAppOptions } from '../../calls/app/call-app.ts';

type Recording = NonNullable<CallAppOptions['recording']>;
type BegunMessage = NonNullable<ReturnType<Recording['beginMessage']>>;

/** Names them as a call does, and keeps nothing. `callMs` = the time of the call. */
export function textMessages(callId: string, callMs: () => number): Recording {
  let count = 0;
  return {
    beginMessage: () => ({ callId, name: `message-${count + 1}`, message: textMessage(callMs()) }),
    keepMessage: () => {
      count += 1;
    },
  };
}

function textMessage(startMs: number): BegunMessage['message'] {
  let isKept = false;
  const message = {
    startMs,
    keep: () => {
      isKept = true;
    },
    end: () => isKept,
  };
  // Steps use nothing else of a message.
  return message as unknown as BegunMessage['message'];
}
