/** The answers of `WS /v2/speak`: text up to a flush is a turn, which has an id and is counted. */
import { randomBytes } from 'node:crypto';
import type { ErrorCode } from '../../foundation/errors.ts';
import type { SpeakDialect } from './speak-dialect.ts';
import type { SpokenModel } from './wire/speak-messages.ts';
import {
  connectedMessage,
  sessionMetadataMessage,
  speechMetadataMessage,
  speechStartedMessage,
  turnErrorMessage,
  turnFlushedMessage,
  turnWarningMessage,
} from './wire/speak-turns.ts';

/** `dg_sp_` and 12 hex digits. */
const ID_BYTES = 6;

interface Turn {
  readonly speechId: string;
  inputChars: number;
  soundMs: number;
  isEnded: boolean;
}

/** The turns of one socket. As many wait as the text of a client may: each has text of its own. */
export class SpeechTurns implements SpeakDialect {
  readonly commands = ['Flush', 'Close'] as const;
  /** The first one is heard; those behind it wait. */
  readonly #turns: Turn[] = [];
  #totalChars = 0;
  #totalMs = 0;

  greeting(requestId: string, model: SpokenModel): string {
    return connectedMessage(requestId, model);
  }

  onText(text: string): readonly string[] {
    this.#totalChars += text.length;
    const open = this.#turns.at(-1);
    if (open?.isEnded === false) {
      open.inputChars += text.length;
      return [];
    }
    const speechId = `dg_sp_${randomBytes(ID_BYTES).toString('hex')}`;
    this.#turns.push({ speechId, inputChars: text.length, soundMs: 0, isEnded: false });
    return this.#turns.length === 1 ? [speechStartedMessage(speechId)] : [];
  }

  onFlush(): boolean {
    const open = this.#turns.at(-1);
    if (open === undefined || open.isEnded) return false;
    open.isEnded = true;
    return true;
  }

  onSound(soundMs: number): void {
    this.#totalMs += soundMs;
    const [turn] = this.#turns;
    if (turn !== undefined) turn.soundMs += soundMs;
  }

  onFlushed(): readonly string[] {
    const turn = this.#turns.shift();
    if (turn === undefined) return [];
    const { speechId } = turn;
    const [next] = this.#turns;
    return [
      speechMetadataMessage(speechId, turn),
      turnFlushedMessage(speechId),
      ...(next === undefined ? [] : [speechStartedMessage(next.speechId)]),
    ];
  }

  /** Nothing clears here. */
  onCleared(): readonly string[] {
    return [];
  }

  onEnd(): readonly string[] {
    return [sessionMetadataMessage({ soundMs: this.#totalMs, inputChars: this.#totalChars })];
  }

  warning(code: string, description: string): string {
    return turnWarningMessage(code, description);
  }

  error(code: ErrorCode, description: string): string {
    return turnErrorMessage(code, description);
  }
}
