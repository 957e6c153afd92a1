/**
 * An app's own TwiML for Twilio: asked for as Twilio asks, and answered with a stream to us in place of its
 * ConversationRelay.
 */

import type { KnownCall } from '../../calls/admission/tokens.ts';
import { type AppSettings, mayAskTwiml, twimlUrlOf } from '../../calls/app/request.ts';
import type { AppServices } from '../../calls/app/services.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { RelayVerb, TwimlDocument, TwimlLink } from '../../protocols/twiml/document.ts';
import { passOnTwiml } from '../../protocols/twiml/passing.ts';
import { connectStreamTwiml, type StreamTarget, sayAndHangUpTwiml } from '../../protocols/twiml/stream.ts';

/** A call as Twilio's webhook tells it. */
export interface WebhookCall {
  readonly known: KnownCall & { readonly callId: string };
  /** The form, as it came. */
  readonly fields: readonly (readonly [string, string])[];
  /** Our routes, as Twilio reaches them. */
  readonly media: string;
  readonly after: string;
}

/** The settings that an app's own TwiML depends on. */
export type OwnTwimlSettings = AppSettings & Pick<Settings, 'APP_GONE_TEXT' | 'TWILIO_AUTH_TOKEN'>;

interface OwnTwimlOptions {
  readonly settings: OwnTwimlSettings;
  readonly registry: Pick<CallRegistry, 'admit' | 'tokens'>;
  readonly apps: Pick<AppServices, 'twiml' | 'handovers'>;
  readonly log: Pick<Log, 'warn'>;
}

export class OwnTwiml {
  readonly #options: OwnTwimlOptions;

  constructor(options: OwnTwimlOptions) {
    this.#options = options;
  }

  /** Where the TwiML of a call is asked for that names `app` or `twiml`; null = it has none. */
  sourceOf({ app, twiml }: { readonly app: string | undefined; readonly twiml: string | undefined }): TwimlLink | null {
    const { settings } = this.#options;
    const isForbidden = twiml !== undefined && !this.#mayAsk(twiml);
    const url = twimlUrlOf(
      { ...(app === undefined ? {} : { app }), ...(twiml === undefined || isForbidden ? {} : { twiml }) },
      settings,
    );
    return url === null ? null : { url, method: 'POST' };
  }

  /**
   * What Twilio is to do at the beginning of a call. Where the app's TwiML cannot be had, the caller hears of it from
   * us.
   */
  async begin(call: WebhookCall, link: TwimlLink): Promise<string> {
    const document = await this.#fetch(call, link);
    return document === null ? connectStreamTwiml(this.#stream(call, null)) : this.#passOn(call, document);
  }

  /** What Twilio is to do when a session is over: what the app answered then. */
  async goOn(call: WebhookCall): Promise<string> {
    const { callId } = call.known;
    const { apps, log } = this.#options;
    const pending = apps.handovers.take(callId);
    if (pending === null)
      log.warn({ callId }, 'Twilio asks what follows a session that was not here, or that was asked for before');
    const document = await pending;
    return document === null ? this.#apology() : this.#passOn(call, document);
  }

  /** What Twilio is to do where one document of the app sends it to another. */
  async follow(call: WebhookCall, link: TwimlLink): Promise<string> {
    const document = this.#mayAsk(link.url) ? await this.#fetch(call, link) : null;
    return document === null ? this.#apology() : this.#passOn(call, document);
  }

  #apology(): string {
    return sayAndHangUpTwiml(this.#options.settings.APP_GONE_TEXT);
  }

  /** A query is as good as its signature. */
  #mayAsk(url: string): boolean {
    const { settings, log } = this.#options;
    const may = mayAskTwiml(url, settings.TWILIO_AUTH_TOKEN !== '', settings);
    if (!may) log.warn({ carrier: 'twilio' }, 'a webhook asked for TwiML that APP_ALLOWED_ORIGINS does not allow');
    return may;
  }

  /** Null when it cannot be had. */
  async #fetch({ fields }: WebhookCall, link: TwimlLink): Promise<TwimlDocument | null> {
    try {
      return await this.#options.apps.twiml.fetch({ link, fields, signal: new AbortController().signal });
    } catch (error) {
      if (error instanceof TrunklineError) return null;
      throw error;
    }
  }

  #passOn(call: WebhookCall, document: TwimlDocument): string {
    return passOnTwiml(document, {
      stream: (relay) => this.#stream(call, relay),
      after: call.after,
      through: (url, method) => `${call.after}?${new URLSearchParams({ twiml: url, method }).toString()}`,
    });
  }

  /** @throws TrunklineError `too_many_calls`, `draining` */
  #stream({ known, media }: WebhookCall, relay: RelayVerb | null): StreamTarget {
    const { registry } = this.#options;
    registry.admit();
    return { url: media, parameters: { token: registry.tokens.issue({ ...known, relay }) } };
  }
}
