/** Paths that answer nothing but WebSocket handshakes. */
import { TrunklineError } from '../../foundation/errors.ts';

/** The handler of plain requests to `path`. */
export function websocketOnly(path: string): () => never {
  return () => {
    throw new TrunklineError('invalid_request', `${path} is for WebSockets, expected an upgrade`);
  };
}
