/**
 * A session border controller that sends a recording (RFC 7866): SIP over UDP or TCP, and one RTP stream for each side
 * of the call. Written from the RFCs, as the simulated phones are.
 */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket as TcpSocket } from 'node:net';
import {
  headerOf,
  newToken,
  readMessage,
  type SipMessage,
  statusOf,
  tagOf,
} from '../../src/carriers/sip/simulator/message.ts';
import { PhoneMedia } from '../../src/carriers/sip/simulator/phone-media.ts';
import { cryptoLine, readPhoneKey } from '../../src/carriers/sip/simulator/phone-srtp.ts';
import type { RtpCodecName } from '../../src/carriers/sip/wire/rtp-codecs.ts';
import { systemClock } from '../../src/foundation/clock.ts';

/** One side of the recorded call. */
export interface RecordedVoice {
  /** At 8 kHz, at 16 kHz for g722 and opus. */
  readonly audio: Int16Array;
  readonly user: string;
  /** µ-law unless said otherwise. */
  readonly codec?: RtpCodecName;
}

interface ClientOptions {
  readonly transport: 'UDP' | 'TCP';
  /** Of the server, on loopback. */
  readonly port: number;
}

/** Where its messages go. */
interface Wire {
  readonly port: number;
  send(text: string): void;
  close(): void;
}

/** One border controller with its socket. */
export class RecordingClient {
  readonly #options: ClientOptions;
  readonly #waiting = new Map<string, (answer: SipMessage) => void>();
  readonly #recordings: SentRecording[] = [];
  #wire: Wire | null = null;

  private constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Opens its socket. */
  static async open(options: ClientOptions): Promise<RecordingClient> {
    const client = new RecordingClient(options);
    const onText = (text: string): void => client.#receive(text);
    client.#wire = await (options.transport === 'UDP' ? openUdp(options.port, onText) : openTcp(options.port, onText));
    return client;
  }

  /** Sends the recording of a call between two; its sound begins when the server has answered. */
  async record(voices: readonly RecordedVoice[], more: RecordingExtras = {}): Promise<SentRecording> {
    const recording = new SentRecording(this, voices, more);
    this.#recordings.push(recording);
    await recording.begin();
    return recording;
  }

  /** Sends a request, and resolves with its final answer. */
  ask(method: string, headers: readonly string[], body: string): Promise<SipMessage> {
    const branch = `z9hG4bK${newToken()}`;
    const answered = new Promise<SipMessage>((resolve) => void this.#waiting.set(branch, resolve));
    this.tell(method, headers, body, branch);
    return answered;
  }

  /** Sends a request that has no answer. */
  tell(method: string, headers: readonly string[], body = '', branch = `z9hG4bK${newToken()}`): void {
    const { transport, port } = this.#options;
    const via = `Via: SIP/2.0/${transport} 127.0.0.1:${this.port};branch=${branch};rport`;
    const own = [`${method} sip:recorder@127.0.0.1:${port} SIP/2.0`, via, 'Max-Forwards: 70', ...headers];
    this.#wire?.send(`${[...own, `Content-Length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`);
  }

  get transport(): string {
    return this.#options.transport;
  }

  get port(): number {
    return this.#wire?.port ?? 0;
  }

  async close(): Promise<void> {
    await Promise.all(this.#recordings.map((recording) => recording.vanish()));
    this.#wire?.close();
  }

  #receive(text: string): void {
    const message = readMessage(text);
    const status = message === null ? null : statusOf(message);
    if (message === null || status === null || status < 200) return;
    const branch = /branch=([^;\s]+)/.exec(headerOf(message, 'Via'))?.[1] ?? '';
    this.#waiting.get(branch)?.(message);
    this.#waiting.delete(branch);
  }
}

interface RecordingExtras {
  /** Bytes by which the metadata are made larger. */
  readonly paddingBytes?: number;
  /** Its sound is encrypted, each stream with a key of its own. */
  readonly srtp?: boolean;
  /** No sound is ever sent. */
  readonly isSilent?: boolean;
}

/** One recording. */
export class SentRecording {
  readonly callId = `rec-${newToken()}`;
  readonly #client: RecordingClient;
  readonly #voices: readonly RecordedVoice[];
  readonly #extras: RecordingExtras;
  readonly #from = `<sip:src@127.0.0.1>;tag=${newToken()}`;
  #to = '<sip:recorder@127.0.0.1>';
  #sequence = 0;
  /** The sound of each side. */
  media: PhoneMedia[] = [];
  /** The server's description. */
  answer = '';

  constructor(client: RecordingClient, voices: readonly RecordedVoice[], extras: RecordingExtras) {
    this.#client = client;
    this.#voices = voices;
    this.#extras = extras;
  }

  /** @throws Error when the recording is refused */
  async begin(): Promise<void> {
    this.media = await Promise.all(
      this.#voices.map(({ audio, codec = 'mulaw' }) =>
        PhoneMedia.open({
          audio,
          codec,
          endless: true,
          srtp: this.#extras.srtp ?? false,
          clock: systemClock,
          address: '127.0.0.1',
          onSpoken: () => undefined,
        }),
      ),
    );
    const answer = await this.#describe('sendonly', 'complete');
    this.#to = headerOf(answer, 'To');
    if (statusOf(answer) !== 200) throw new Error(`a recording was answered with ${answer.start}`);
    this.#acknowledge();
    this.answer = answer.body;
    const [, ...streams] = answer.body.split(/^m=audio /m);
    for (const [i, media] of this.media.entries()) {
      const stream = streams[i] ?? '';
      const to = { address: '127.0.0.1', port: Number(/^\d+/.exec(stream)) };
      if (to.port === 0 || this.#extras.isSilent === true) continue;
      const { payloadType } = media.format;
      media.agree({ to, payloadType, eventType: null, receives: true, srtpKey: readPhoneKey(stream) });
    }
  }

  /** The recorded call is put on hold, or taken back. */
  async hold(isHeld: boolean): Promise<void> {
    const answer = await this.#describe(isHeld ? 'inactive' : 'sendonly', 'partial');
    if (statusOf(answer) !== 200) throw new Error(`a hold was answered with ${answer.start}`);
    this.#acknowledge();
  }

  /** The recorded call is over. */
  async end(): Promise<void> {
    await this.#client.ask('BYE', this.#headers('BYE'), '');
    await this.vanish();
  }

  /** Nothing is sent any more, and nobody is told. */
  async vanish(): Promise<void> {
    await Promise.all(this.media.map((media) => media.close()));
  }

  #describe(direction: string, dataMode: string): Promise<SipMessage> {
    const parts = [
      ['application/sdp', this.#sdp(direction)],
      ['application/rs-metadata+xml\r\nContent-Disposition: recording-session', this.#metadata(dataMode)],
    ];
    const whole = parts.map(([type, content]) => `--src\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`);
    const body = `${whole.join('')}--src--\r\n`;
    const headers = ['Require: siprec', 'Content-Type: multipart/mixed;boundary=src'];
    return this.#client.ask('INVITE', [...this.#headers('INVITE'), ...headers], body);
  }

  #acknowledge(): void {
    this.#client.tell('ACK', [...this.#names(), `CSeq: ${this.#sequence} ACK`]);
  }

  #headers(method: string): string[] {
    this.#sequence++;
    const { transport, port } = this.#client;
    const contact = `Contact: <sip:src@127.0.0.1:${port};transport=${transport.toLowerCase()}>;+sip.src`;
    return [...this.#names(), `CSeq: ${this.#sequence} ${method}`, contact];
  }

  #names(): string[] {
    const to = tagOf(this.#to) === '' ? '<sip:recorder@127.0.0.1>' : this.#to;
    return [`From: ${this.#from}`, `To: ${to}`, `Call-ID: ${this.callId}`];
  }

  #sdp(direction: string): string {
    const session = `v=0\r\no=src 1 ${this.#sequence} IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n`;
    const stream = ({ port, format, srtpKey }: PhoneMedia, i: number): string => {
      const { payloadType, encoding, clockHz, mapChannels } = format;
      const map = `a=rtpmap:${payloadType} ${encoding}/${clockHz}${mapChannels === null ? '' : `/${mapChannels}`}`;
      const key = srtpKey === null ? '' : `${cryptoLine(srtpKey)}\r\n`;
      const kind = `${port} ${srtpKey === null ? 'RTP/AVP' : 'RTP/SAVP'} ${payloadType}`;
      return `m=audio ${kind}\r\n${map}\r\n${key}a=label:${i + 1}\r\na=${direction}\r\n`;
    };
    return session + this.media.map(stream).join('');
  }

  #metadata(dataMode: string): string {
    const participants = this.#voices.map(
      ({ user }, i) =>
        `<participant participant_id="p${i}"><nameID aor="sip:${user}@127.0.0.1"/></participant>` +
        `<stream stream_id="s${i}" session_id="x"><label>${i + 1}</label></stream>` +
        `<participantstreamassoc participant_id="p${i}"><send>s${i}</send></participantstreamassoc>`,
    );
    const padding = `<extensiondata>${'x'.repeat(this.#extras.paddingBytes ?? 0)}</extensiondata>`;
    const content = `<dataMode>${dataMode}</dataMode><session session_id="x"/>${participants.join('')}${padding}`;
    return `<?xml version="1.0"?><recording xmlns="urn:ietf:params:xml:ns:recording:1">${content}</recording>`;
  }
}

async function openUdp(to: number, onText: (text: string) => void): Promise<Wire> {
  const socket: UdpSocket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.on('message', (datagram) => onText(datagram.toString()));
  const send = (text: string): void => socket.send(text, to, '127.0.0.1', () => undefined);
  return { port: socket.address().port, send, close: () => void socket.close() };
}

async function openTcp(to: number, onText: (text: string) => void): Promise<Wire> {
  const socket: TcpSocket = connect(to, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  let held = '';
  socket.on('data', (bytes) => {
    held += bytes.toString();
    for (;;) {
      const end = held.indexOf('\r\n\r\n');
      const length = end + 4 + Number(/^content-length: *(\d+)/im.exec(held.slice(0, end))?.[1] ?? 0);
      if (end < 0 || held.length < length) return;
      onText(held.slice(0, length));
      held = held.slice(length);
    }
  });
  return { port: socket.localPort ?? 0, send: (text) => void socket.write(text), close: () => void socket.destroy() };
}
