import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { samplesToPcm16 } from '../../../src/audio/pcm.ts';
import { writeWav } from '../../../src/audio/wav.ts';
import type { SpeakRequest, Speech } from '../../../src/engine-client/engine.ts';
import { openSpeakers } from '../../../src/engine-client/remote/open-members.ts';
import { RemoteSpeech } from '../../../src/engine-client/remote/remote-speech.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeEngine } from '../../fakes/engine.ts';
import { TtsServer } from '../../fakes/tts-server.ts';
import { eventually } from '../../helpers/eventually.ts';

const SOUND = Int16Array.from({ length: 400 }, (_, n) => n + 1);
const RATE_HZ = 24_000;

let clock: FakeClock;
let server: TtsServer;
let embedded: FakeEngine;
let speech: RemoteSpeech;
let metrics: Metrics;
let logged: string[];

function open(options = `;voices=heart+nova;rate=${RATE_HZ}`): void {
  speech?.close();
  metrics = new Metrics();
  logged = [];
  const log = createLog('info', { write: (line: string) => logged.push(JSON.parse(line).msg) });
  const settings = readSettings({ TTS_URL: `${server.url}${options}`, TTS_URL_MODEL: 'kokoro' });
  const speakers = openSpeakers(settings, { clock, log, metrics });
  speech = new RemoteSpeech({ embedded, speakers, clock, metrics });
}

interface Heard {
  /** How many samples were told early, and at which rates. */
  told: number;
  rates: number[];
  speech: Speech | null;
  error: string | null;
}

async function say(extra: Partial<SpeakRequest> = {}, heard = newHeard()): Promise<Heard> {
  const onSound = (samples: Int16Array, rateHz: number): void => {
    heard.told += samples.length;
    heard.rates.push(rateHz);
  };
  const line = { text: 'Hello.', voice: 'remote:heart', speed: 1, urgency: 'speak', dueInMs: 500, onSound } as const;
  await speech.speak({ ...line, ...extra }).then(
    (spoken) => {
      heard.speech = spoken;
    },
    (error: { code: string }) => {
      heard.error = error.code;
    },
  );
  return heard;
}

function newHeard(): Heard {
  return { told: 0, rates: [], speech: null, error: null };
}

const whole = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'audio/pcm' }).end(samplesToPcm16(SOUND));
};

const works = async () =>
  (await metrics.speakers.works.get()).values.map(({ labels, value }) => [labels['reason'], value]);

beforeEach(async () => {
  clock = new FakeClock();
  server = new TtsServer();
  server.behave = whole;
  await server.listen();
  embedded = new FakeEngine(clock);
  open();
});

afterEach(async () => {
  speech.close();
  await server.close();
});

describe('a server that speaks', () => {
  it('is asked for its voices, which are named first', async () => {
    expect(speech.voices.map(({ name }) => name)).toEqual(['remote:heart', 'remote:nova', 'rms', 'slt']);
    expect(speech.voices[0]).toMatchObject({ language: 'en-US', rateHz: RATE_HZ, cost: null });
    expect(await say({ speed: 1.5 })).toMatchObject({ told: 400, rates: [RATE_HZ], error: null });
    expect(server.paths).toEqual(['/v1/audio/speech']);
    expect(server.ordered).toMatchObject([
      { model: 'kokoro', input: 'Hello.', voice: 'heart', response_format: 'pcm', speed: 1.5 },
    ]);
    expect(embedded.spoken).toEqual([]);
    expect(await works()).toEqual([['asked', 1]]);
  });

  it('has the voice alloy where none is named, and says its rate in a WAV file', async () => {
    open('/tts/audio/speech;languages=de');
    server.behave = (response) => response.end(writeWav([SOUND], 22_050));
    expect(speech.voices[0]).toMatchObject({ name: 'remote:alloy', language: 'de' });
    expect(await say({ voice: 'remote:alloy' })).toMatchObject({ told: 400, rates: [22_050] });
    expect(server.paths).toEqual(['/tts/audio/speech']);
    expect(server.ordered).toMatchObject([{ response_format: 'wav', voice: 'alloy' }]);
  });

  it('is heard while it speaks', async () => {
    let end = (): void => undefined;
    server.behave = (response) => {
      response.write(samplesToPcm16(SOUND));
      end = () => response.end(samplesToPcm16(SOUND));
    };
    const heard = newHeard();
    const saying = say({}, heard);
    await eventually(() => expect(heard.told).toBe(400));
    end();
    expect(await saying).toMatchObject({ told: 800, error: null });
  });

  it('gives all of it at the end to those who want no beginnings', async () => {
    const { text, ...line } = { text: 'Hi.', voice: 'remote:heart', speed: 1, dueInMs: 500 };
    const { samples, rateHz, isStandIn } = await speech.speak({ ...line, text, urgency: 'batch' });
    expect([samples, rateHz, isStandIn]).toEqual([SOUND, RATE_HZ, undefined]);
  });

  it('leaves the embedded voices to the embedded engines', async () => {
    await say({ voice: 'rms' });
    expect([server.ordered.length, embedded.spoken.length]).toEqual([0, 1]);
  });
});

describe('an embedded voice of the same language', () => {
  it('speaks when no sound has come in time, and what it spoke is not to be kept', async () => {
    server.behave = () => undefined;
    const saying = say();
    await eventually(() => expect(server.ordered).toHaveLength(1));
    clock.advance(1499);
    expect(embedded.spoken).toEqual([]);
    clock.advance(1);
    const { speech: spoken } = await saying;
    expect(spoken).toMatchObject({ isStandIn: true, rateHz: 16_000 });
    expect(embedded.spoken).toMatchObject([{ voice: 'rms', text: 'Hello.' }]);
    await eventually(() => expect(server.givenUp).toBe(1));
    expect(await works()).toEqual([['hedge', 1]]);
  });

  it('speaks when the server is late, unless the server is heard first after all', async () => {
    let begin = (): void => undefined;
    server.behave = (response) => {
      begin = () => whole(response);
    };
    embedded.speakMs = 1000;
    const saying = say();
    await eventually(() => expect(server.ordered).toHaveLength(1));
    clock.advance(1500);
    await eventually(() => expect(embedded.pending).toBe(1));
    begin();
    const { told, speech: spoken } = await saying;
    expect([told, spoken?.isStandIn]).toEqual([400, undefined]);
    await eventually(() => expect(embedded.pending).toBe(0));
  });

  it.each([
    ['500', (response: ServerResponse) => response.writeHead(500).end()],
    ['429', (response: ServerResponse) => response.writeHead(429).end()],
    ['JSON', (response: ServerResponse) => response.end('{"error":"no such voice"}')],
    ['nothing', (response: ServerResponse) => response.end()],
    ['MP3', (response: ServerResponse) => response.end('ID3 and so on')],
    ['a broken connection', (response: ServerResponse) => response.destroy()],
  ])('speaks at once where the answer is %s', async (_what, behave) => {
    server.behave = behave;
    const { speech: spoken, error } = await say();
    expect([spoken?.isStandIn, error]).toEqual([true, null]);
    expect(await works()).toEqual([['failed', 1]]);
  });

  it('speaks where the server has failed three times, until it is back', async () => {
    server.behave = (response) => response.writeHead(500).end();
    for (let n = 0; n < 5; n++) expect((await say()).speech).toMatchObject({ isStandIn: true });
    expect(server.ordered).toHaveLength(3);
    server.behave = whole;
    clock.advance(2000);
    expect(await say()).toMatchObject({ told: 400 });
    expect(logged).toEqual(['a server of TTS_URL is left alone: it answered 500', 'a server of TTS_URL answers again']);
  });

  it('does not take over a sound that was heard', async () => {
    server.behave = (response) => {
      response.write(samplesToPcm16(SOUND), () => response.destroy());
    };
    expect(await say()).toMatchObject({ error: 'unavailable' });
    expect(embedded.spoken).toEqual([]);
  });

  it('does not speak what nobody waits for, until somebody does', async () => {
    server.behave = (response) => response.writeHead(500).end();
    expect(await say({ urgency: 'batch' })).toMatchObject({ error: 'unavailable' });
    server.behave = () => undefined;
    const hurry = new AbortController();
    const saying = say({ urgency: 'batch', hurry: hurry.signal });
    await eventually(() => expect(server.ordered).toHaveLength(2));
    clock.advance(5000);
    expect(embedded.spoken).toEqual([]);
    hurry.abort();
    clock.advance(1500);
    expect((await saying).speech).toMatchObject({ isStandIn: true });
  });

  it('is not there in every language', async () => {
    open(';languages=de;voices=anna');
    server.behave = (response) => response.writeHead(500).end();
    for (let n = 0; n < 4; n++) expect(await say({ voice: 'remote:anna' })).toMatchObject({ error: 'unavailable' });
  });
});

describe('a sound that', () => {
  it('never ends is cut off', async () => {
    server.behave = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(new Uint8Array(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    const { told, error } = await say();
    expect(error).toBe('unavailable');
    expect(told / RATE_HZ).toBeLessThan(15);
    await eventually(() => expect(server.givenUp).toBe(1));
  });

  it('does not go on is broken after ten seconds', async () => {
    server.behave = (response) => response.write(samplesToPcm16(SOUND));
    const heard = newHeard();
    const saying = say({}, heard);
    await eventually(() => expect(heard.told).toBe(400));
    clock.advance(10_000);
    expect(await saying).toMatchObject({ error: 'unavailable' });
  });

  it('nobody wants any more is given up, which is no failure', async () => {
    server.behave = () => undefined;
    for (let n = 1; n <= 4; n++) {
      const given = new AbortController();
      const saying = say({ signal: given.signal });
      await eventually(() => expect(server.ordered).toHaveLength(n));
      given.abort();
      expect(await saying).toMatchObject({ error: 'cancelled' });
    }
    expect(embedded.spoken).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
