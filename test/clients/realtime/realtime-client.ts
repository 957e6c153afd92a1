/** A client of the Realtime API, for tests. */
import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';
import { samplesToPcm16 } from '../../../src/audio/pcm.ts';

export interface Event {
  readonly type: string;
  readonly event_id: string;
  readonly [field: string]: unknown;
}

const FORMAT_16K = { type: 'audio/pcm', rate: 16_000 };
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

export class RealtimeClient {
  readonly socket: WebSocket;
  readonly events: Event[] = [];

  constructor(url: string, protocols: readonly string[] = [], options: ClientOptions = {}) {
    this.socket = new WebSocket(url.replace(/^http/, 'ws'), [...protocols], options);
    this.socket.on('message', (data: Buffer) => this.events.push(JSON.parse(data.toString()) as Event));
  }

  /** Opened, and told to take samples at the rate of the fake engine. */
  static async open(url: string, session: object = {}): Promise<RealtimeClient> {
    const client = new RealtimeClient(url);
    await once(client.socket, 'open');
    client.update({}, session);
    return client;
  }

  get types(): string[] {
    return this.events.map(({ type }) => type.replace(TRANSCRIPTION, 'transcription'));
  }

  get transcripts(): unknown[] {
    return this.of(`${TRANSCRIPTION}.completed`).map(({ transcript }) => transcript);
  }

  /** Statuses of the answers that are over. */
  get statuses(): unknown[] {
    return this.of('response.done').map(({ response }) => (response as { status: string }).status);
  }

  of(type: string): Event[] {
    return this.events.filter((event) => event.type === type);
  }

  send(event: object): void {
    this.socket.send(JSON.stringify(event));
  }

  update(input: object, session: object = {}): void {
    const audio = { input: { format: FORMAT_16K, ...input } };
    this.send({ type: 'session.update', session: { type: 'transcription', audio, ...session } });
  }

  /** In messages of a tenth of a second, cut anywhere. */
  speak(samples: Int16Array): void {
    const bytes = samplesToPcm16(samples);
    for (let from = 0; from < bytes.length; from += 3201) this.append(bytes.subarray(from, from + 3201));
  }

  append(bytes: Uint8Array): void {
    this.send({ type: 'input_audio_buffer.append', audio: Buffer.from(bytes).toString('base64') });
  }
}
