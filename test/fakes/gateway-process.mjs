/**
 * The built gateway in a process of its own. With `forgets` as argument, when it listens, it forgets a promise that
 * fails; with `throws` something is thrown that throws again when it is looked at.
 */
const { readSettings } = await import(new URL('../../dist/src/foundation/settings/config.js', import.meta.url).href);
const { serve } = await import(new URL('../../dist/src/gateway/serve.js', import.meta.url).href);

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
