import { connect, type Socket } from 'node:net';
import { readWyomingText, type WyomingEvent, WyomingReader, wyomingRequest } from '../../protocols/remote/wyoming.ts';
import { RemoteError, type RemoteRecogniser, type RemoteRequest, type RemoteText } from './remote-recogniser.ts';

/** Most of these servers read one utterance after the other. */
const IN_FLIGHT_MAX = 2;
const PORT = 10_300;

/**
 * A server that speaks Wyoming. Each request has a connection of its own: many servers close it after a transcript, and
 * a closed one tells them to stop.
 */
export class WyomingRecogniser implements RemoteRecogniser {
  readonly inFlightMax = IN_FLIGHT_MAX;
  readonly #at: { readonly host: string; readonly port: number };
  readonly #open = new Set<Socket>();

  /** @param url `wyoming://host:10300` */
  constructor({ hostname, port }: URL) {
    this.#at = { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? PORT : Number(port) };
  }

  recognise({ samples, language, signal }: RemoteRequest): Promise<RemoteText> {
    const request = wyomingRequest(samples, language);
    return new Promise((resolve, reject) => {
      const socket = connect(this.#at);
      this.#open.add(socket);
      const answer = new WyomingAnswer(samples.length);
      const settle = (error: RemoteError | null, text = ''): void => {
        signal.removeEventListener('abort', onAbort);
        socket.destroy();
        if (error === null) resolve({ text });
        else reject(error);
      };
      const onAbort = (): void => settle(new RemoteError('failed', 'it was not waited for'));
      signal.addEventListener('abort', onAbort, { once: true });
      socket.on('data', (bytes) => {
        try {
          const text = answer.read(bytes);
          if (text !== null) settle(null, text);
        } catch (error) {
          settle(error instanceof RemoteError ? error : new RemoteError('unusable', (error as Error).message));
        }
      });
      socket.on('error', ({ code = 'no connection' }: NodeJS.ErrnoException) =>
        settle(new RemoteError('failed', `it could not be reached (${code})`)),
      );
      socket.on('close', () => {
        this.#open.delete(socket);
        settle(new RemoteError('failed', 'it closed the connection without an answer'));
      });
      if (signal.aborted) onAbort();
      else socket.write(request);
    });
  }

  close(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

/** What one request is answered with. */
class WyomingAnswer {
  readonly #reader = new WyomingReader();
  readonly #samples: number;
  /** Of a server that tells its text piece by piece. */
  #pieces = '';

  constructor(samples: number) {
    this.#samples = samples;
  }

  /** The text, once there is one; else null. @throws RemoteError, WyomingError */
  read(bytes: Uint8Array): string | null {
    for (const event of this.#reader.read(bytes)) {
      const text = this.#take(event);
      if (text !== null) return text;
    }
    return null;
  }

  #take(event: WyomingEvent): string | null {
    switch (event.type) {
      case 'transcript':
        return this.#textOf(event);
      case 'transcript-chunk':
        this.#pieces += String(event.data['text'] ?? '');
        if (this.#pieces.length > this.#samples) throw new RemoteError('unusable', 'what it answered is too long');
        return null;
      case 'transcript-stop':
        return this.#textOf({ type: 'transcript', data: { text: this.#pieces } });
      case 'error':
        throw new RemoteError('failed', 'it answered with an error');
      default:
        return null;
    }
  }

  #textOf(event: WyomingEvent): string {
    const text = readWyomingText(event, this.#samples);
    if (text === null) throw new RemoteError('unusable', 'what it answered is no transcript');
    return text;
  }
}
