/** The step `app`: a program has the caller for a while. */
import { afterEach, describe, expect, it } from 'vitest';
import { startCalls } from '../../calls/harness.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { eventually } from '../../helpers/eventually.ts';
import { FlowCall } from '../run/flow-call.ts';

const flow = (fields: string) => `start: talk
variables: {order: "4711", got: null, dots: ".."}
keys: {"0": operator}
steps:
  talk: {app: {${fields}}, next: done}
  done: {say: "{got}"}
  operator: {say: "operator"}
  sorry: {say: "sorry"}`;

let app: TestApp | null = null;
afterEach(async () => {
  await app?.close();
  app = null;
});

function start(fields: string, environment: Record<string, string> = {}): FlowCall {
  const { context } = startCalls({});
  return new FlowCall(flow(fields), { environment: { APP_RECONNECT_MS: '0', ...environment }, context });
}

describe('an app in a flow', () => {
  it('has the caller until it ends the session; what it hands over is a variable', async () => {
    app = await startApp();
    const { url } = app;
    const call = start(`url: "${url}", into: got, parameters: {order: "{order}"}, greeting: "Hello {order}."`);
    await app.until(({ frames }) => frames.length === 1);
    expect(app.frames[0]).toMatchObject({ type: 'setup', customParameters: { order: '4711' } });
    await call.hear();
    await call.press('0');
    await app.until(({ frames }) => frames.length === 2);
    expect(app.frames[1]).toMatchObject({ type: 'dtmf', digit: '0' });
    app.say({ type: 'text', token: 'Which order?', last: true });
    await eventually(() => expect(call.said).toContain('Which order?'));
    app.say({ type: 'end', handoffData: 'all done' });
    await eventually(async () => expect((await call.hear()).said).toEqual(['Hello 4711.', 'Which order?', 'all done']));
    expect(call.end).toBe('done in done');
    await app.until(({ closeCodes }) => closeCodes.length === 1);
  });

  it('is that of APP_URL where the step names none', async () => {
    app = await startApp();
    const { url } = app;
    const call = start('into: got', { APP_URL: url });
    await app.until(({ frames }) => frames.length === 1);
    app.say({ type: 'end' });
    await eventually(async () => expect((await call.hear()).end).toBe('done in done'));
  });

  it.each([
    ['that cannot be reached', 'url: "ws://127.0.0.1:9/", failed: sorry'],
    ['that nobody names', 'failed: sorry'],
    ['whose path a value would change', 'url: "ws://127.0.0.1:9/{dots}/", failed: sorry'],
    ['whose address is none', 'url: "{order}", failed: sorry'],
  ])('%s leads to `failed`', async (_, fields) => {
    const call = start(fields);
    await eventually(async () => {
      await call.wait(1000);
      expect(call.said).toEqual(['sorry']);
    });
  });

  it('is closed when the caller leaves', async () => {
    app = await startApp();
    const call = start(`url: "${app.url}"`);
    await app.until(({ frames }) => frames.length === 1);
    call.app.close();
    await app.until(({ closeCodes }) => closeCodes.length === 1);
    expect(call.end).toBe('hangup in talk');
  });
});
