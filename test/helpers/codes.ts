import { TrunklineError } from '../../src/foundation/errors.ts';

/** The code of the error with which `action` is refused; `none` when it is not. Throws what is no refusal. */
export function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof TrunklineError) return error.code;
    throw error;
  }
  return 'none';
}
