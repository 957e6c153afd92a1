/** Routes that answer only WebSocket handshakes. */
import { TrunklineError } from '../../foundation/errors.ts';

/** Returns a handler that refuses plain requests to `path`. */
export function websocketOnly(path: string): () => never {
  return () => {
    throw new TrunklineError('invalid_request', `${path} is for WebSockets, expected an upgrade`);
  };
}
