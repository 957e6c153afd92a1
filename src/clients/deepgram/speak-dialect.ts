/** What differs between `WS /v1/speak` and `WS /v2/speak`: the answers, and what a flush ends. */
import type { ErrorCode } from '../../foundation/errors.ts';
import { deepgramCode } from './wire/errors.ts';
import {
  errorMessage,
  metadataMessage,
  SPEAK_COMMANDS,
  type SpeakCommand,
  type SpokenModel,
  sequenceMessage,
  warningMessage,
} from './wire/speak-messages.ts';

/** The answers of one socket. Lists are messages to send, in order. */
export interface SpeakDialect {
  /** What a client may say beside `Speak`. */
  readonly commands: readonly SpeakCommand[];
  greeting(requestId: string, model: SpokenModel): string;
  /** Text has come that is not empty. */
  onText(text: string): readonly string[];
  /** A flush has come; false = there is nothing that it could end. */
  onFlush(): boolean;
  /** Sound is sent next. */
  onSound(soundMs: number): void;
  /** All sound of a flush has been sent. */
  onFlushed(): readonly string[];
  /** All that was not sent has been dropped. */
  onCleared(): readonly string[];
  /** Everything has been sent, and the socket is closed next. */
  onEnd(): readonly string[];
  warning(code: string, description: string): string;
  error(code: ErrorCode, description: string): string;
}

/** `WS /v1/speak`: each flush and each clear has its number. */
export class SequencedSpeech implements SpeakDialect {
  readonly commands = SPEAK_COMMANDS;
  #sequenceId = 0;

  greeting(requestId: string, model: SpokenModel): string {
    return metadataMessage(requestId, model);
  }

  onText(): readonly string[] {
    return [];
  }

  onFlush(): boolean {
    return true;
  }

  onSound(): void {}

  onFlushed(): readonly string[] {
    return [sequenceMessage('Flushed', this.#sequenceId++)];
  }

  onCleared(): readonly string[] {
    return [sequenceMessage('Cleared', this.#sequenceId++)];
  }

  onEnd(): readonly string[] {
    return [];
  }

  warning(code: string, description: string): string {
    return warningMessage(code, description);
  }

  error(code: ErrorCode, description: string): string {
    return errorMessage(deepgramCode(code), description);
  }
}
