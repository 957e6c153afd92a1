/**
 * Executes an app's TwiML during a call, as Twilio does: one verb after the other, including sessions with the app and
 * the documents that the app answers at their end. A call from Twilio begins with the session that its webhook found in
 * the TwiML; Twilio itself executes the document that follows, and we only pass it on.
 */

import { TrunklineError } from '../../../foundation/errors.ts';
import { splitHotWords } from '../../../foundation/hot-words.ts';
import type { DialVerb, RelayVerb, TwimlDocument, TwimlLink, TwimlVerb } from '../../../protocols/twiml/document.ts';
import { verbsOf } from '../../../protocols/twiml/document.ts';
import type { CallApp, CallAppOptions, CallerEvent } from '../call-app.ts';
import { callFields, dialFields, type SessionEnd, sessionFields, withFields } from './fields.ts';
import { RelaySession } from './session.ts';
import { VerbSpeaker } from './speaker.ts';
import { TakeOver } from './take-over.ts';

/** Most documents in one call. */
const DOCUMENTS_MAX = 50;
/** Most sessions with apps in one call: a single document may ask for hundreds. */
const SESSIONS_MAX = 50;
/** Most `<Dial>`s in one call that nobody took: the carrier makes a call for each. */
const DIALS_MAX = 50;
/** How long verbs alone may hold a call, counted from its beginning or from its last session with an app. */
const VERBS_MAX_MS = 1_800_000;

/** What an app asks for in place of a verb that we refuse, by the verb's name in lower case. */
const INSTEAD: Readonly<Record<string, string>> = {
  enqueue: 'a flow with queueMusic, or <Dial><Sip> with the address of a queue',
  dial: 'one number, or one <Sip>',
  refer: '<Dial><Sip>',
};

/**
 * What a call begins with: a document to request, or the session that Twilio's webhook found in a document; null = the
 * document could not be fetched.
 */
export type Beginning =
  | { readonly type: 'document'; readonly link: TwimlLink }
  | { readonly type: 'session'; readonly relay: RelayVerb | null };

/** What comes after a verb: the next one, the verbs of another document, or the end. */
type Next = 'next' | 'end' | readonly TwimlVerb[];

export class TwimlFollower implements CallApp {
  readonly #options: CallAppOptions & { readonly beginning: Beginning };
  readonly #speaker: VerbSpeaker;
  readonly #call = new AbortController();
  readonly #takeOver = new TakeOver();
  #session: RelaySession | null = null;
  #documents = 0;
  #sessions = 0;
  #dials = 0;
  #verbsSinceMs: number;
  #handoffData: string | null = null;
  /** Whether an app was ever connected. */
  #reached = false;
  /** Twilio will ask for the answer to an action. */
  #handedOver = false;
  /** The last request to the app, or the last session with it, failed. */
  #failed = false;

  /** Begins at once. */
  constructor(options: CallAppOptions & { readonly beginning: Beginning }) {
    this.#options = options;
    const { voice, context, log } = options;
    this.#verbsSinceMs = context.clock.nowMs();
    this.#speaker = new VerbSpeaker({ voice, context, log, signal: this.#call.signal, takeOver: this.#takeOver });
    void this.#run();
  }

  /** Whether neither the app's TwiML nor an app that it names could be reached, and APP_GONE ends the call then. */
  get unreachable(): boolean {
    if (this.#options.context.settings.APP_GONE !== 'end') return false;
    return (
      !this.#reached && (this.#session === null ? this.#failed : !this.#session.reached && this.#session.unreachable)
    );
  }

  /** Whether there is a session, and its app waits for what the caller says. */
  get listens(): boolean {
    return this.#session?.listens ?? false;
  }

  /** To the session with the app, if there is one. */
  onSpeech(event: CallerEvent): void {
    this.#session?.onSpeech(event);
  }

  /** To the session with the app, if there is one. */
  onDtmf(digit: string): void {
    this.#session?.onDtmf(digit);
  }

  /** To the session with the app. Without one, the verb that sounds stops, and the next one waits. */
  mute(isMuted: boolean): void {
    if (this.#takeOver.isOn === isMuted) return;
    this.#takeOver.set(isMuted);
    if (!isMuted) this.#verbsSinceMs = this.#options.context.clock.nowMs();
    if (this.#session !== null) this.#session.mute(isMuted);
    else if (isMuted) this.#options.voice.interrupt();
  }

  /** Stops all requests and speech. The app is still told that its session is over. */
  close(): void {
    this.#call.abort(new TrunklineError('call_not_found', 'the call is over'));
    this.#takeOver.set(false);
    this.#session?.close();
  }

  get #over(): boolean {
    return this.#call.signal.aborted;
  }

  async #run(): Promise<void> {
    try {
      await this.#follow(await this.#begin());
      await this.#leave();
    } catch (error) {
      if (this.#over) return;
      if (error instanceof TrunklineError && error.code === 'twiml_failed') await this.#giveUp();
      else this.#options.onFailure(error);
    }
  }

  async #begin(): Promise<readonly TwimlVerb[]> {
    const { beginning, start } = this.#options;
    if (beginning.type === 'document') return await this.#fetch(beginning.link, callFields(start, 'ringing'));
    if (beginning.relay !== null) return [{ type: 'relay', relay: beginning.relay }];
    this.#failed = true;
    throw new TrunklineError('twiml_failed', "the app's TwiML could not be fetched");
  }

  async #follow(first: readonly TwimlVerb[]): Promise<void> {
    let verbs = [...first];
    for (let verb = verbs.shift(); verb !== undefined && !this.#over; verb = verbs.shift()) {
      await this.#takeOver.over();
      if (this.#over) return;
      const next = await this.#obey(verb);
      if (next === 'end') return;
      if (next !== 'next') verbs = [...next];
    }
  }

  async #obey(verb: TwimlVerb): Promise<Next> {
    switch (verb.type) {
      case 'say':
      case 'play':
      case 'digits':
      case 'pause':
        await this.#speaker.speak(verb, this.#verbsSinceMs + VERBS_MAX_MS);
        return 'next';
      case 'relay':
        return await this.#talk(verb.relay);
      case 'dial':
        return await this.#dial(verb.dial);
      case 'redirect':
        return await this.#fetch(verb.link, callFields(this.#options.start, 'in-progress'));
      case 'hangup':
        return 'end';
      case 'other':
        return this.#passOver(verb);
    }
  }

  /** We skip an unsupported verb, but fail at one that would have handed the caller over: what follows relies on it. */
  #passOver({ name, takesCall }: Extract<TwimlVerb, { type: 'other' }>): Next {
    const instead = INSTEAD[name.toLowerCase()];
    this.#options.log.warn(
      { verb: name, action: takesCall ? 'end' : 'skip', ...(instead !== undefined && { instead }) },
      "the app's TwiML has a verb that Trunkline does not support",
    );
    if (takesCall) throw new TrunklineError('twiml_failed', `the app's TwiML asks for <${name}>`);
    return 'next';
  }

  /** Where somebody else has the call it is over here, and what comes of it later nobody tells us. */
  async #dial({ to, from, timeoutMs, action }: DialVerb): Promise<Next> {
    this.#dials += 1;
    this.#checkEnd('<Dial>s', this.#dials, DIALS_MAX);
    const { voice, start, log } = this.#options;
    await voice.drained();
    await this.#takeOver.over();
    if (this.#over) return 'end';
    const outcome = await this.#options.transfer({ to, from, timeoutMs, handoffData: this.#handoffData });
    if (outcome === 'transferred' || this.#over) return 'end';
    if (outcome === 'unsupported')
      log.warn("the app's TwiML asks for <Dial>, and the carrier cannot transfer the call");
    else log.info({ outcome }, "the <Dial> of the app's TwiML came to nothing");
    this.#speaker.checkTime(this.#verbsSinceMs + VERBS_MAX_MS);
    const fields = withFields(callFields(start, 'in-progress'), dialFields(outcome));
    if (action !== null) return await this.#fetch(action, fields);
    if (outcome === 'unsupported') await this.#sayFailure();
    return 'next';
  }

  async #talk(relay: RelayVerb): Promise<Next> {
    this.#sessions += 1;
    this.#checkEnd('sessions with apps', this.#sessions, SESSIONS_MAX);
    this.#options.languages.expectWords(splitHotWords(relay.attributes['hints'] ?? ''));
    const session = new RelaySession({ ...this.#options, relay });
    this.#session = session;
    const end = await session.ended;
    this.#session = null;
    this.#verbsSinceMs = this.#options.context.clock.nowMs();
    this.#reached ||= session.reached;
    this.#failed = end.status === 'failed';
    this.#handoffData = end.handoffData ?? this.#handoffData;
    if (relay.action !== null) return await this.#act(relay.action, end);
    if (this.#failed && !this.#over) await this.#sayFailure();
    return 'next';
  }

  /** Tells the app that its session is over, even if the call ends meanwhile. */
  async #act(action: TwimlLink, end: SessionEnd): Promise<Next> {
    const { start, context, beginning, trace } = this.#options;
    const fields = withFields(
      callFields(start, end.status === 'completed' ? 'completed' : 'in-progress'),
      sessionFields(end),
    );
    const { signal } = new AbortController();
    const answer = context.apps.twiml.fetch({ link: action, fields, signal, traceparent: trace?.traceparent });
    if (beginning.type === 'session') this.#handOver(answer);
    const document = await this.#take(answer);
    // Twilio asks for it when the stream ends, and may ask another gateway.
    if (beginning.type === 'session') await context.apps.handovers.settled();
    return beginning.type === 'session' ? 'end' : verbsOf(document);
  }

  #handOver(answer: Promise<TwimlDocument>): void {
    const { start, context } = this.#options;
    this.#handedOver = true;
    context.apps.handovers.put(
      start.callId,
      answer.catch(() => null),
    );
  }

  async #fetch(link: TwimlLink, fields: [string, string][]): Promise<readonly TwimlVerb[]> {
    const { signal } = this.#call;
    const { context, trace } = this.#options;
    const traceparent = trace?.traceparent;
    return verbsOf(await this.#take(context.apps.twiml.fetch({ link, fields, signal, traceparent })));
  }

  async #take(answer: Promise<TwimlDocument>): Promise<TwimlDocument> {
    this.#documents += 1;
    const document = await answer.catch((error: unknown) => {
      this.#failed = true;
      throw error;
    });
    this.#failed = false;
    this.#checkEnd('documents', this.#documents, DOCUMENTS_MAX);
    return document;
  }

  #checkEnd(what: string, count: number, max: number): void {
    if (count <= max) return;
    this.#options.log.warn(
      { documents: this.#documents, sessions: this.#sessions, dials: this.#dials },
      "the app's TwiML does not end",
    );
    throw new TrunklineError('twiml_failed', `got more than ${max} ${what} in one call`);
  }

  /**
   * Tells the caller that something is wrong, unless Twilio goes on with the call and says so itself. Then the call
   * ends, or goes on with captions only.
   */
  async #giveUp(): Promise<void> {
    const isEnd = this.#options.context.settings.APP_GONE === 'end';
    if (!isEnd || !this.#handedOver) await this.#sayFailure();
    if (isEnd) await this.#leave();
  }

  async #sayFailure(): Promise<void> {
    await this.#speaker.sayFailure(this.#options.context.settings.APP_GONE_TEXT);
  }

  async #leave(): Promise<void> {
    await this.#options.voice.drained();
    await this.#takeOver.over();
    if (this.#over) return;
    this.#options.onEnd(this.#handoffData, this.unreachable ? 'app_unreachable' : 'app');
  }
}
