import type { RefusedMessage } from './contract.ts';

/**
 * The engine cannot work with its settings on this machine, now or later. `message` says what is wrong and names the
 * remedy.
 */
export class Refusal extends Error {
  readonly code: RefusedMessage['code'];

  constructor(code: RefusedMessage['code'], message: string) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
  }
}
