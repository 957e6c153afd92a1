import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { samplesToPcm16 } from '../../../src/audio/pcm.ts';
import { Resampler } from '../../../src/audio/resample.ts';
import { concat, silence, spoken } from '../../fakes/engine.ts';
import { eventually } from '../../helpers/eventually.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../../http/test-server.ts';

let testServer: TestServer;
let client: Client | undefined;
afterEach(async () => {
  client?.socket.terminate();
  await testServer.app.close();
});

interface Answer {
  readonly text?: string;
  readonly is_final?: boolean;
  readonly is_partial?: boolean;
  readonly status?: string;
  readonly code?: string;
  readonly message?: string;
  readonly statusCode?: number;
}

class Client {
  readonly socket: WebSocket;
  readonly answers: Answer[] = [];

  constructor(url: string) {
    this.socket = new WebSocket(url.replace(/^http/, 'ws'));
    this.socket.on('message', (data: Buffer) => this.answers.push(JSON.parse(data.toString()) as Answer));
  }

  get finals(): (string | undefined)[] {
    return this.answers.filter((answer) => answer.is_final).map(({ text }) => text);
  }

  get errors(): Answer[] {
    return this.answers.filter(({ code }) => code !== undefined);
  }

  /** In messages of an odd number of bytes. */
  speak(samples: Int16Array): void {
    const bytes = samplesToPcm16(samples);
    for (let from = 0; from < bytes.length; from += 4001) this.socket.send(bytes.subarray(from, from + 4001));
  }

  order(order: unknown): void {
    this.socket.send(JSON.stringify(order));
  }
}

async function open(query = ''): Promise<Client> {
  testServer = await startServer();
  client = new Client(`${await listen(testServer.app)}/ws/transcribe${query}`);
  await once(client.socket, 'open');
  return client;
}

describe('WS /ws/transcribe', () => {
  it('says what it takes, shows what is being said, and ends it when it is over', async () => {
    const speaker = await open();
    const { answers } = speaker;
    speaker.speak(concat(spoken([1, 2, 3, 4]), silence(900)));
    await eventually(() => expect(speaker.finals).toEqual(['W1 w2 w3 w4.']));
    expect(answers[0]).toEqual({
      status: 'connected',
      sample_rate: 16_000,
      format: 'pcm_s16le',
      buffer_size: 14_400,
      window_max_s: 12,
      use_server_vad: true,
      max_message_bytes: 1_048_576,
    });
    expect(answers.slice(1, -1).every((answer) => answer.is_partial === true)).toBe(true);
    expect(new Set(testServer.engine.transcribed.map(({ urgency }) => urgency)).has('batch')).toBe(false);
  });

  it('ends at once what is being said when it is told to, and is empty where nothing is', async () => {
    const speaker = await open('?use_server_vad=false');
    speaker.speak(concat(spoken([5]), silence(1500), spoken([6])));
    speaker.order({ action: 'flush' });
    await eventually(() => expect(speaker.finals).toEqual(['W5 w6.']));
    speaker.order({ action: 'flush' });
    await eventually(() => expect(speaker.finals).toEqual(['W5 w6.', '']));
  });

  it('waits as long as that server does before it takes a silence for the end', async () => {
    const speaker = await open();
    speaker.speak(concat(spoken([1, 2]), silence(500), spoken([3, 4]), silence(900)));
    await eventually(() => expect(speaker.finals).toHaveLength(1));
    expect(speaker.finals).toEqual(['W1 w2 w3 w4.']);
  });

  it('forgets what came before a reset', async () => {
    const speaker = await open();
    speaker.speak(spoken([7]));
    speaker.order({ action: 'reset' });
    speaker.speak(concat(spoken([8]), silence(900)));
    await eventually(() => expect(speaker.finals).toEqual(['W8.']));
  });

  it('says that it has forgotten', async () => {
    const speaker = await open();
    speaker.order({ action: 'reset' });
    speaker.speak(spoken([7]));
    speaker.order({ action: 'reset' });
    const reset = { status: 'buffer_reset' };
    await eventually(() =>
      expect(speaker.answers.slice(1).filter(({ status }) => status !== undefined)).toEqual([reset, reset]),
    );
  });

  it('refuses a language that the recogniser lacks also before an engine is ready', async () => {
    testServer = await startServer();
    const { engine } = testServer;
    const { languages } = engine;
    engine.languages = [];
    const ready = new AbortController();
    engine.start = async () => void (await once(ready.signal, 'abort'));
    client = new Client(`${await listen(testServer.app)}/ws/transcribe`);
    await once(client.socket, 'open');
    client.order({ action: 'reset' });
    client.order({ action: 'config', language: 'de' });
    await eventually(() => expect(client?.answers.map(({ status }) => status)).toEqual(['connected', 'buffer_reset']));
    engine.languages = languages;
    ready.abort();
    await eventually(() =>
      expect(client?.answers.slice(2)).toMatchObject([{ code: 'UNSUPPORTED_LANGUAGE', statusCode: 400 }]),
    );
  });

  it('can be configured', async () => {
    const speaker = await open('?use_server_vad=0');
    speaker.order({ action: 'config', language: 'en-US', use_server_vad: 'yes' });
    const configured = { status: 'configured', language: 'en-US', use_server_vad: true };
    await eventually(() => expect(speaker.answers.at(-1)).toEqual(configured));
    expect(speaker.answers[0]).toMatchObject({ status: 'connected', use_server_vad: false });
  });

  it('answers what it does not understand, and goes on', async () => {
    const speaker = await open();
    speaker.socket.send('no JSON');
    speaker.order(['flush']);
    speaker.order({ action: 'dance' });
    speaker.order({ action: 'config', language: 'zh', use_server_vad: false });
    speaker.order({ action: 'config', sample_rate: 8000 });
    speaker.speak(concat(spoken([3]), silence(900)));
    await eventually(() => expect(speaker.finals).toEqual(['W3.']));
    expect(speaker.errors.map(({ code, statusCode }) => [code, statusCode])).toEqual([
      ['INVALID_JSON', 400],
      ['UNKNOWN_ACTION', 400],
      ['UNKNOWN_ACTION', 400],
      ['UNSUPPORTED_LANGUAGE', 400],
      ['UNSUPPORTED_SAMPLE_RATE', 400],
    ]);
    expect(speaker.errors.at(-2)?.message).toContain('the recogniser understands English');
    expect(speaker.answers.some(({ status }) => status === 'configured')).toBe(false);
    const { values } = await testServer.metrics.refused.get();
    expect(values).toContainEqual(expect.objectContaining({ labels: { code: 'unsupported_language' }, value: 1 }));
    const orders = await testServer.metrics.transcribeOrders.get();
    expect(orders.values).toEqual([expect.objectContaining({ labels: { action: 'refused' }, value: 5 })]);
    expect((await testServer.metrics.transcribeSockets.get()).values[0]?.value).toBe(1);
  });

  it.each([8000, 44_100])('hears %i Hz at the pace at which it was spoken', async (rateHz) => {
    const speaker = await open(`?sample_rate=${rateHz}`);
    const speech = concat(spoken([1, 2, 3, 4]), silence(900));
    speaker.speak(new Resampler(16_000, rateHz).push(speech));
    await eventually(() => expect(speaker.finals).toHaveLength(1));
    expect(speaker.answers[0]).toMatchObject({ sample_rate: rateHz });
    const [final] = testServer.engine.transcribed.slice(-1);
    expect((final?.samples.length ?? 0) / 16).toBeGreaterThan(900);
    expect((final?.samples.length ?? 0) / 16).toBeLessThan(1500);
  });

  it('loses nothing that its filter holds back when it is flushed', async () => {
    const speaker = await open('?sample_rate=8000&use_server_vad=false');
    speaker.speak(new Resampler(16_000, 8000).push(concat(spoken([9]), spoken([9]))));
    speaker.order({ action: 'flush' });
    await eventually(() => expect(speaker.finals).toHaveLength(1));
    const given = testServer.engine.transcribed.at(-1)?.samples.length ?? 0;
    expect(given).toBeGreaterThanOrEqual(6400 - 512);
  });

  it('refuses a rate that it does not take by a message, and closes', async () => {
    const speaker = await open('?sample_rate=7999');
    expect((await once(speaker.socket, 'close'))[0]).toBe(4000);
    const message = 'sample_rate: got "7999", expected a whole number of Hz from 8000 to 48000';
    expect(speaker.answers).toMatchObject([{ code: 'UNSUPPORTED_SAMPLE_RATE', statusCode: 400, message }]);
  });

  it('closes when nothing comes', async () => {
    const speaker = await open();
    const closed = once(speaker.socket, 'close');
    testServer.clock.advance(60_000);
    expect((await closed)[0]).toBe(4409);
  });

  it('takes no more speakers than calls', async () => {
    testServer = await startServer({ MAX_CALLS: '1' });
    const url = `${await listen(testServer.app)}/ws/transcribe`;
    client = new Client(url);
    await once(client.socket, 'open');
    expect(await upgradeStatus(url)).toBe(503);
  });

  it('takes messages of 1 MiB and none larger, whatever others may send', async () => {
    const speaker = await open('?use_server_vad=false');
    speaker.socket.send(Buffer.alloc(1_048_576));
    speaker.order({ action: 'flush' });
    await eventually(() => expect(speaker.finals).toEqual(['']));
    const closed = once(speaker.socket, 'close');
    speaker.socket.send(Buffer.alloc(1_048_577));
    expect((await closed)[0]).toBe(1009);
    const reader = new WebSocket(speaker.socket.url.replace('/ws/transcribe?use_server_vad=false', '/v1/captions'));
    await once(reader, 'open');
    reader.send(Buffer.alloc(65_537));
    expect((await once(reader, 'close'))[0]).toBe(1009);
  });
});
