/** Text of jambonz to sound while it comes: `WS /jambonz/tts`. */
import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Codec } from '../../foundation/units.ts';
import { closeDrained } from '../../http/server/drain-codes.ts';
import type { SpeechContext } from '../../http/speech/send-speech.ts';
import { CommandBudget } from '../../listening/command-budget.ts';
import type { ListenerSession } from '../../listening/listener-place.ts';
import type { ResolvedVoice } from '../../speech/voice-resolver.ts';
import { SocketWriter } from '../shared/socket-writer.ts';
import { SpeechStream } from '../shared/speech-stream.ts';
import { connectMessage, errorMessage, readSpeechMessage } from './wire/messages.ts';

/** Text that waits to be spoken, in texts of the largest size. */
const WAITING_TEXTS_MAX = 4;
const CLOSE_NORMAL = 1000;

interface SpokenStreamOptions {
  readonly socket: WebSocket;
  readonly request: FastifyRequest;
  readonly context: SpeechContext;
  readonly voice: ResolvedVoice;
  readonly rateHz: number;
}

/**
 * Speaks for one socket until it closes. We speak first, as jambonz expects it. When the server ends,
 * what is left is said before the socket is closed.
 */
export function serveSpeech({ socket, request, context, voice, rateHz }: SpokenStreamOptions): ListenerSession {
  const codec: Codec = { name: 'pcm16', rateHz, channels: 1, bytesPerSample: 2 };
  const writer = new SocketWriter(socket, context.clock);
  const fail = (error: unknown): TrunklineError => {
    const failure = context.failures.note(error, request);
    void writer.send(errorMessage(failure.message));
    return failure;
  };
  const commands = new CommandBudget(context.clock);
  let isOver = false;
  const end = (error: unknown): void => {
    isOver = true;
    const { closeCode } = fail(error);
    stream.close();
    socket.close(closeCode);
  };
  const stream = new SpeechStream({
    service: context.service,
    clock: context.clock,
    voice,
    codec,
    waitingMaxChars: context.inputMaxChars * WAITING_TEXTS_MAX,
    send: (sound) => writer.send(sound),
    onFlushed: async () => undefined,
    onSkipped: () => void fail(new TrunklineError('engine_unavailable', 'a part of the text could not be spoken')),
    onFull: (isFull) => (isFull ? socket.pause() : socket.resume()),
    onFailed: fail,
  });
  socket.once('close', () => stream.close());
  socket.on('message', (data, isBinary) => {
    if (isBinary || isOver) return;
    try {
      commands.take();
    } catch (error) {
      end(error);
      return;
    }
    try {
      const message = readSpeechMessage(data.toString(), context.inputMaxChars);
      // Texts are limited by what may wait to be spoken.
      if (message?.type === 'stream' && message.text !== '') commands.giveBack();
      if (message?.type === 'stream') stream.write(message.text);
      else if (message?.type === 'flush') stream.flush();
      else if (message?.type === 'clear') stream.clear();
      else if (message?.type === 'stop') {
        isOver = true;
        stream.close();
        socket.close(CLOSE_NORMAL);
      }
    } catch (error) {
      fail(error);
    }
  });
  void writer.send(connectMessage(rateHz));
  return {
    isBusy: () => stream.isSpeaking,
    finish: () => void stream.finish().then(() => closeDrained(socket)),
    fail: end,
  };
}
