/**
 * A gateway in a process of its own. With `forgets` as argument, when it listens, it forgets a promise that fails; with
 * `throws` something is thrown that throws again when it is looked at.
 */
import { readSettings } from '../../src/foundation/settings/config.ts';
import { serve } from '../../src/serve.ts';

await serve(readSettings());
if (process.argv[2] === 'forgets') void Promise.reject(new Error('forgotten'));
if (process.argv[2] === 'throws') {
  setImmediate(() => {
    const get = () => {
      throw new Error('looked at');
    };
    throw Object.defineProperty(new Error('thrown'), 'detail', { enumerable: true, get });
  });
}
