/** Asterisk's end of an AudioSocket connection, and whatever it is connected to, on loopback. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { encodeG711 } from '../../../src/audio/g711.ts';
import { AudioSocketReader } from '../../../src/carriers/audiosocket/simulator/reader.ts';
import { type Codec, FRAME_MS, msToSamples } from '../../../src/foundation/units.ts';
import { PATIENCE_MS } from '../../helpers/eventually.ts';

export const UUID = '40325ec2-5efd-4bd3-805f-53576e581d13';
export const LINEAR_8K: Codec = { name: 'pcm16', rateHz: 8000, channels: 1, bytesPerSample: 2 };

/** A message on the wire. */
export function message(kind: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  return Buffer.concat([Buffer.from([kind, payload.length >> 8, payload.length & 0xff]), payload]);
}

export const NAMED = named(UUID);

/** The first message of the call `uuid`. */
export function named(uuid: string): Buffer {
  return message(0x01, Buffer.from(uuid.replaceAll('-', ''), 'hex'));
}

/** 20 ms of 8 kHz sound, loud or not. */
export function frame(level: number): Buffer {
  const samples = Int16Array.from({ length: msToSamples(FRAME_MS, LINEAR_8K.rateHz) }, (_, i) =>
    (i & 4) === 0 ? level : -level,
  );
  return message(0x10, encodeG711(samples, LINEAR_8K));
}

/** An Asterisk in the hand of the test. */
export class Asterisk {
  readonly socket: Socket;
  readonly heard: Uint8Array[] = [];
  readonly reader = new AudioSocketReader({ onFrame: (bytes) => this.heard.push(Uint8Array.from(bytes)) });
  /** Sizes of the pieces that came, as TCP brought them. */
  readonly pieces: number[] = [];
  isClosed = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (data: Buffer) => {
      this.pieces.push(data.length);
      this.reader.receive(data);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  /** With `allowHalfOpen` it does not close because the other side does. */
  static async connect(port: number, allowHalfOpen = false): Promise<Asterisk> {
    const asterisk = new Asterisk(connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen }));
    // A connection may be cut in the moment in which it is made.
    await Promise.race([once(asterisk.socket, 'connect'), once(asterisk.socket, 'close')]).catch(() => undefined);
    return asterisk;
  }

  say(...messages: readonly Uint8Array[]): this {
    this.socket.write(Buffer.concat(messages));
    return this;
  }

  hangUp(): this {
    this.socket.end();
    return this;
  }
}

/** A port at which each connection is handed to `onConnection`. */
export async function openPort(onConnection: (socket: Socket) => void): Promise<{ port: number; server: Server }> {
  const server = createServer({ noDelay: true }, onConnection);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, server };
}

/** Lets whatever is on its way over loopback arrive, until `condition` holds. Fails after a while. */
export async function arrived(condition: () => boolean): Promise<void> {
  for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs; ) {
    if (condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`it did not happen: ${condition}`);
}
