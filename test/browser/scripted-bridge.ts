/**
 * The gateway's end of a phone call from the page, as a test sees it: it keeps what the page says and says what the
 * test wants.
 */
import type { Page, WebSocketRoute } from 'playwright-core';
import { expect } from 'vitest';
import { decodeBase64 } from '../../src/protocols/base64.ts';

/** One of Twilio's messages, as far as the tests look at them. */
export interface PhoneMessage {
  readonly event: string;
  readonly sequenceNumber?: string;
  readonly streamSid?: string;
  readonly start?: {
    readonly callSid: string;
    readonly tracks: string[];
    readonly customParameters: object;
    readonly mediaFormat: object;
  };
  readonly media?: {
    readonly track: string;
    readonly chunk: string;
    readonly timestamp: string;
    readonly payload: string;
  };
  readonly mark?: { readonly name: string };
  readonly dtmf?: { readonly digit: string };
}

export class ScriptedBridge {
  readonly messages: PhoneMessage[] = [];
  closeCode: number | undefined;
  #socket: WebSocketRoute | null = null;

  /** Stands in for `/twilio/media` on `page`, from its next load on. */
  async answerOn(page: Page): Promise<void> {
    await page.routeWebSocket('**/twilio/media', (socket) => {
      this.#socket = socket;
      socket.onMessage((message) => void this.messages.push(JSON.parse(String(message)) as PhoneMessage));
      socket.onClose((code) => {
        this.closeCode = code;
      });
    });
  }

  of(event: string): PhoneMessage[] {
    return this.messages.filter((message) => message.event === event);
  }

  /** The µ-law frames the page has sent. */
  get frames(): Uint8Array[] {
    return this.of('media').map(({ media }) => decodeBase64(media?.payload ?? '') ?? new Uint8Array(0));
  }

  /** Waits for `count` more frames: the call's own time, 20 ms each. */
  async pass(count: number): Promise<void> {
    const until = this.of('media').length + count;
    await expect.poll(() => this.of('media').length, { interval: 10 }).toBeGreaterThanOrEqual(until);
  }

  /** Sends a message for the page's stream. */
  say(message: object): void {
    const streamSid = this.of('start')[0]?.streamSid;
    this.#socket?.send(JSON.stringify({ streamSid, ...message }));
  }

  /** Closes the call from the gateway's side. */
  async close(code: number, reason: string): Promise<void> {
    await this.#socket?.close({ code, reason });
  }
}
