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

/** Of a machine that is short of something for now: the same files can be opened later. */
const PASSES = /bad_alloc|failed to allocate|ENOMEM|EMFILE|ENFILE|EAGAIN/i;

/**
 * The result of `step`, which opens the recogniser in `folder` or makes a first run with it (null = it has none). What
 * fails in it fails each time, for the files are what they are.
 * @throws Refusal `bad_settings` that names the folder; another error where the machine is at fault
 */
export async function openFolder<T>(folder: string | null, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (folder === null || error instanceof Refusal || PASSES.test(reason)) throw error;
    throw new Refusal('bad_settings', `the recogniser in ${folder} cannot be used: ${reason}`);
  }
}
