/** Answers that no peer gave. */
import type { IncomingResponseMessage } from 'sip.js/lib/core/index.js';

/** Whether sip.js wrote the answer itself: the peer did not answer (408), or the request could not be sent (503). */
export function isOurOwn(answer: IncomingResponseMessage): boolean {
  return !answer.hasHeader('via');
}
