/**
 * The built gateway in a process of its own; the environment may name constants, too. With `forgets` as argument, when
 * it listens, it forgets a promise that fails; with `throws` something is thrown that throws again when it is looked
 * at.
 */
const { readSettings } = await import(new URL('../../dist/src/foundation/settings/config.js', import.meta.url).href);
const { CONSTANTS } = await import(new URL('../../dist/src/foundation/settings/constants.js', import.meta.url).href);
const { serve } = await import(new URL('../../dist/src/gateway/serve.js', import.meta.url).href);

const constants = {};
for (const name of Object.keys(CONSTANTS)) {
  const text = process.env[name];
  if (text === undefined) continue;
  constants[name] = text === 'true' || text === 'false' ? text === 'true' : Number(text);
  delete process.env[name];
}
await serve(readSettings(process.env, { constants }));
if (process.argv[2] === 'forgets') void Promise.reject(new Error('forgotten'));
if (process.argv[2] === 'throws') {
  setImmediate(() => {
    const get = () => {
      throw new Error('looked at');
    };
    throw Object.defineProperty(new Error('thrown'), 'detail', { enumerable: true, get });
  });
}
