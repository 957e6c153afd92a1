/**
 * An app's own TwiML for Twilio. We request it as Twilio would, and replace its ConversationRelay by a stream to us.
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

/** A call as Twilio's webhook describes it. */
export interface WebhookCall {
  readonly known: KnownCall & { readonly callId: string };
  /** The form as it was received. */
  readonly fields: readonly (readonly [string, string])[];
  /** The URLs of our routes, as Twilio reaches them. */
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

  /** Where to request the TwiML of a call whose webhook names `app` or `twiml`; null = the call has none. */
  sourceOf({ app, twiml }: { readonly app: string | undefined; readonly twiml: string | undefined }): TwimlLink | null {
    const { settings } = this.#options;
    const isForbidden = twiml !== undefined && !this.#mayAsk(twiml);
    const url = twimlUrlOf(
      { ...(app === undefined ? {} : { app }), ...(twiml === undefined || isForbidden ? {} : { twiml }) },
      settings,
    );
    return url === null ? null : { url, method: 'POST', orGet: true };
  }

  /**
   * What Twilio is to do at the beginning of a call. If the app's TwiML cannot be fetched, the call is streamed to us
   * and we tell the caller.
   */
  async begin(call: WebhookCall, link: TwimlLink): Promise<string> {
    const document = await this.#fetch(call, link);
    return document === null
      ? await this.#issued(connectStreamTwiml(this.#stream(call, null)))
      : await this.#passOnOrFail(call, document);
  }

  /** What Twilio is to do when a session is over: the TwiML that the app answered at its end. */
  async goOn(call: WebhookCall): Promise<string> {
    const { callId } = call.known;
    const { apps, log } = this.#options;
    const document = await apps.handovers.take(callId);
    if (document === undefined)
      log.warn({ callId }, 'Twilio asked what follows a session that is unknown here or was asked for before');
    return await this.#passOnOrFail(call, document ?? null);
  }

  /** What Twilio is to do when one document of the app redirects it to another. */
  async follow(call: WebhookCall, link: TwimlLink): Promise<string> {
    const document = this.#mayAsk(link.url) ? await this.#fetch(call, link) : null;
    return await this.#passOnOrFail(call, document);
  }

  async #passOnOrFail(call: WebhookCall, document: TwimlDocument | null): Promise<string> {
    return document === null ? this.#failureTwiml() : await this.#issued(this.#passOn(call, document));
  }

  /** `twiml` as soon as every gateway knows the tokens in it. */
  async #issued(twiml: string): Promise<string> {
    await this.#options.registry.tokens.settled();
    return twiml;
  }

  #failureTwiml(): string {
    return sayAndHangUpTwiml(this.#options.settings.APP_GONE_TEXT);
  }

  /** A URL from the query is trusted only if the webhook is signed. */
  #mayAsk(url: string): boolean {
    const { settings, log } = this.#options;
    const may = mayAskTwiml(url, settings.TWILIO_AUTH_TOKEN !== '', settings);
    if (!may) log.warn({ carrier: 'twilio' }, 'a webhook asked for TwiML that APP_ALLOWED_ORIGINS does not allow');
    return may;
  }

  /** Null when the document cannot be fetched. */
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
