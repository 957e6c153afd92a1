/** A gateway in a process of its own. `forgets` as argument: when it listens, it forgets a promise that fails. */
import { readSettings } from '../../src/config.ts';
import { serve } from '../../src/main.ts';

await serve(readSettings());
if (process.argv[2] === 'forgets') void Promise.reject(new Error('forgotten'));
