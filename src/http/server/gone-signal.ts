/** What is done for a client ends when the client leaves. */
import type { FastifyReply } from 'fastify';
import { TrunklineError } from '../../foundation/errors.ts';

/** Aborts when the connection of `reply` closes before the answer has been sent completely. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const onClose = (): void => {
    if (!raw.writableFinished) gone.abort(new TrunklineError('invalid_request', 'the client has gone away'));
  };
  if (raw.destroyed) onClose();
  else raw.once('close', onClose);
  return gone.signal;
}
