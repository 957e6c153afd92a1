import { afterEach, describe, expect, it } from 'vitest';
import { type Doors, openDoors } from './doors.ts';

let doors: Doors;
afterEach(() => doors.app.close());

describe('GET /ready', () => {
  it.each([
    ['ready', 1, false, 200, []],
    ['starting', 1, false, 200, []],
    ['stopped', 0, false, 200, []],
    ['starting', 0, false, 503, ['the speech engine is starting']],
    ['failed', 0, false, 503, ['the speech engine cannot start; the log says why']],
    ['ready', 1, true, 503, ['the gateway is shutting down']],
  ] as const)('with engine %s (%i ready), draining %s, answers %i', async (state, ready, draining, status, reasons) => {
    doors = await openDoors();
    doors.health.draining = draining;
    doors.health.engine = { ...doors.health.engine, state, ready };
    const answer = await doors.app.inject('/ready');
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({
      status: status === 200 ? 'ready' : 'not_ready',
      reasons,
      engine: { state, ready, workers: 1, provider: 'cpu', models: { asr: 'tone', vad: 'tone', tts: 'tone-1' } },
    });
  });

  it('tells strangers the status alone', async () => {
    doors = await openDoors({ API_KEYS: 'k' });
    doors.health.engine = { ...doors.health.engine, state: 'failed', ready: 0 };
    const answer = await doors.app.inject('/ready');
    expect([answer.statusCode, answer.json()]).toEqual([503, { status: 'not_ready' }]);
  });
});

describe('GET /health', () => {
  it('answers whatever the engine does', async () => {
    doors = await openDoors();
    doors.health.engine = { ...doors.health.engine, state: 'failed', ready: 0 };
    const answer = await doors.app.inject('/health');
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }]);
  });
});

describe('GET /metrics', () => {
  it('speaks Prometheus text, event-loop delay included', async () => {
    doors = await openDoors();
    const answer = await doors.app.inject('/metrics');
    expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(answer.body).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
    expect(answer.body).toMatch(/^trunkline_engines_ready 0$/m);
  });
});
