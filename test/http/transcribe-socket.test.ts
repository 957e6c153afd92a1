import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { samplesToPcm16 } from '../../src/audio/pcm.ts';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Doors, knock, listen, openDoors } from './doors.ts';

let doors: Doors;
let client: Client | undefined;
afterEach(async () => {
  client?.socket.terminate();
  await doors.app.close();
});

interface Answer {
  readonly text?: string;
  readonly is_final?: boolean;
  readonly is_partial?: boolean;
  readonly status?: string;
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
  doors = await openDoors();
  client = new Client(`${await listen(doors.app)}/ws/transcribe${query}`);
  await once(client.socket, 'open');
  return client;
}

describe('WS /ws/transcribe', () => {
  it('says what it takes, shows what is being said, and ends it when it is over', async () => {
    const speaker = await open();
    const { answers } = speaker;
    speaker.speak(concat(spoken([1, 2, 3, 4]), silence(600)));
    await eventually(() => expect(speaker.finals).toEqual(['W1 w2 w3 w4.']));
    expect(answers[0]).toEqual({
      status: 'connected',
      sample_rate: 16_000,
      format: 'pcm_s16le',
      buffer_size: 14_400,
      window_max_s: 12,
      use_server_vad: true,
    });
    expect(answers.slice(1, -1).every((answer) => answer.is_partial === true)).toBe(true);
    expect(new Set(doors.engine.transcribed.map(({ urgency }) => urgency)).has('batch')).toBe(false);
  });

  it('ends at once what is being said when it is told to, and is empty where nothing is', async () => {
    const speaker = await open('?use_server_vad=false');
    speaker.speak(concat(spoken([5]), silence(1500), spoken([6])));
    speaker.order({ action: 'flush' });
    await eventually(() => expect(speaker.finals).toEqual(['W5 w6.']));
    speaker.order({ action: 'flush' });
    await eventually(() => expect(speaker.finals).toEqual(['W5 w6.', '']));
  });

  it('forgets what came before a reset', async () => {
    const speaker = await open();
    speaker.speak(spoken([7]));
    speaker.order({ action: 'reset' });
    speaker.speak(concat(spoken([8]), silence(600)));
    await eventually(() => expect(speaker.finals).toEqual(['W8.']));
  });

  it('can be configured, and closes on what it does not understand', async () => {
    const speaker = await open();
    speaker.order({ action: 'config', language: 'en', use_server_vad: false });
    await eventually(() => expect(speaker.answers.at(-1)).toEqual({ status: 'configured', language: 'en', use_server_vad: false }));
    const closed = once(speaker.socket, 'close');
    speaker.order({ action: 'dance' });
    expect((await closed)[0]).toBe(1007);
  });

  it('closes when nothing comes', async () => {
    const speaker = await open();
    const closed = once(speaker.socket, 'close');
    doors.clock.advance(60_000);
    expect((await closed)[0]).toBe(4409);
  });

  it('takes no more speakers than calls', async () => {
    doors = await openDoors({ MAX_CALLS: '1' });
    const url = `${await listen(doors.app)}/ws/transcribe`;
    client = new Client(url);
    await once(client.socket, 'open');
    expect(await knock(url)).toBe(503);
  });
});
