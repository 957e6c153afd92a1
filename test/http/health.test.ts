import { afterEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from './test-server.ts';

let testServer: TestServer;
afterEach(() => testServer.app.close());

describe('GET /ready', () => {
  it.each([
    ['ready', 1, false, 200, []],
    ['starting', 1, false, 200, []],
    ['stopped', 0, false, 200, []],
    ['starting', 0, false, 503, ['the speech engine is starting']],
    ['failed', 0, false, 503, ['the speech engine cannot start; the log says why']],
    ['ready', 1, true, 503, ['the server is shutting down']],
  ] as const)('with engine %s (%i ready), draining %s, answers %i', async (state, ready, draining, status, reasons) => {
    testServer = await startServer();
    testServer.health.draining = draining;
    testServer.health.engine = { ...testServer.health.engine, state, ready };
    const answer = await testServer.app.inject('/ready');
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({
      status: status === 200 ? 'ready' : 'not_ready',
      reasons,
      warnings: [],
      engine: {
        state,
        ready,
        workers: 1,
        provider: 'cpu',
        devices: ['cpu'],
        models: { asr: 'tone', vad: 'tone', tts: 'tone-1' },
      },
    });
  });

  it('says what wants somebody, and takes calls all the same', async () => {
    testServer = await startServer();
    testServer.health.warnings = ['the clock is wrong'];
    const answer = await testServer.app.inject('/ready');
    expect([answer.statusCode, answer.json()]).toMatchObject([200, { warnings: ['the clock is wrong'] }]);
  });

  it('answers 503 while the records cannot be kept, and says why', async () => {
    testServer = await startServer();
    testServer.health.records = 'it refuses the login: 28000';
    const answer = await testServer.app.inject('/ready');
    expect([answer.statusCode, answer.json().reasons]).toEqual([
      503,
      ['the records cannot be kept: it refuses the login: 28000'],
    ]);
  });

  it('tells strangers the status alone', async () => {
    testServer = await startServer({ API_KEYS: 'k' });
    testServer.health.engine = { ...testServer.health.engine, state: 'failed', ready: 0 };
    const answer = await testServer.app.inject('/ready');
    expect([answer.statusCode, answer.json()]).toEqual([503, { status: 'not_ready' }]);
  });
});

describe('GET /health', () => {
  it('answers whatever the engine does', async () => {
    testServer = await startServer();
    testServer.health.engine = { ...testServer.health.engine, state: 'failed', ready: 0 };
    const answer = await testServer.app.inject('/health');
    expect([answer.statusCode, answer.json()]).toMatchObject([200, { status: 'ok', model_loaded: false }]);
  });

  it("has the fields that the Qwen3 servers' clients read", async () => {
    testServer = await startServer();
    expect((await testServer.app.inject('/health')).json()).toEqual({
      status: 'ok',
      mode: 'gateway',
      worker_alive: true,
      model_loaded: true,
      model_id: 'tone',
      final_model_id: null,
      tts_model_id: 'tone-1',
      turn_model_id: null,
      default_voice: 'rms',
      cuda: false,
      gpu_name: null,
      voices: expect.arrayContaining(['rms', 'alloy', 'vivian', 'uncle_fu']),
      queue_depth: 0,
      max_queue_depth: 16,
      audio_cache_size: 0,
      audio_cache_max: 314,
      voice_cache_size: 0,
      voice_cache_max: 0,
      voice_cache_hits: 0,
    });
  });

  it('names the graphics processor where models run on it', async () => {
    testServer = await startServer();
    testServer.health.gpuName = 'NVIDIA L4';
    expect((await testServer.app.inject('/health')).json()).toMatchObject({ cuda: false, gpu_name: null });
    testServer.health.engine = { ...testServer.health.engine, provider: 'cuda' };
    expect((await testServer.app.inject('/health')).json()).toMatchObject({ cuda: true, gpu_name: 'NVIDIA L4' });
  });

  it('tells strangers the status alone', async () => {
    testServer = await startServer({ API_KEYS: 'k' });
    expect((await testServer.app.inject('/health')).json()).toEqual({ status: 'ok' });
    const withKey = await testServer.app.inject({ url: '/health', headers: { authorization: 'Bearer k' } });
    expect(withKey.json()).toMatchObject({ status: 'ok', model_loaded: true });
  });

  it('names the models before they are loaded, and waits for nothing', async () => {
    testServer = await startServer();
    testServer.engine.voices = [];
    testServer.engine.failure = 'unavailable';
    testServer.health.engine = {
      ...testServer.health.engine,
      state: 'starting',
      ready: 0,
      models: null,
      provider: null,
    };
    expect((await testServer.app.inject('/health')).json()).toMatchObject({
      model_loaded: false,
      model_id: 'moonshine-tiny',
      tts_model_id: 'flite',
      cuda: false,
      voices: [],
    });
    expect(testServer.engine.detected).toEqual([]);
  });

  it('counts what is being spoken and what is kept', async () => {
    testServer = await startServer();
    testServer.engine.speakMs = 100;
    const read = async () => (await testServer.app.inject('/health')).json<Record<string, number>>();
    const speech = testServer.app.inject({
      method: 'POST',
      url: '/v1/audio/speech',
      payload: { input: 'Hello.', response_format: 'pcm' },
    });
    await expect.poll(() => testServer.engine.pending).toBe(1);
    expect((await read())['queue_depth']).toBe(1);
    testServer.clock.advance(100);
    await speech;
    const { queue_depth: depth, audio_cache_size: size, audio_cache_max: max } = await read();
    expect([depth, size]).toEqual([0, 1]);
    // 120 ms at 24 kHz, its text and what the cache adds to it, into 32 MiB and 16 MiB.
    expect(max).toBe(Math.floor((33_554_432 + 16_777_216) / (2880 * 2 + 'Hello.'.length + 256)));
    const cleared = await testServer.app.inject({ method: 'POST', url: '/cache/clear' });
    expect(cleared.json()).toEqual({ audio_cleared: size, voice_cleared: 0 });
    expect((await read())['audio_cache_size']).toBe(0);
  });
});

describe('GET /metrics', () => {
  it('speaks Prometheus text, event-loop delay included', async () => {
    testServer = await startServer();
    const answer = await testServer.app.inject('/metrics');
    expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(answer.body).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
    expect(answer.body).toMatch(/^trunkline_engines_ready 0$/m);
  });
});
