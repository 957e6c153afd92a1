/**
 * Calls of Twilio that are given to somebody else. Where our webhook began the call, Twilio asks what follows its
 * stream (`/twilio/after`) and gets a `<Dial>`; other calls are changed by Twilio's REST API
 * (https://www.twilio.com/docs/voice/api/call-resource#update-a-call-resource).
 */
import { type OneTime, type OneUseStore, openOneTime } from '../../calls/admission/shared-one-use.ts';
import type { TransferOutcome, TransferRequest } from '../../calls/leg.ts';
import type { Clock } from '../../foundation/clock.ts';
import { guardedFetch, networkCode, withinTime } from '../../foundation/guarded-fetch.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import { dialTwiml, endTwiml, failedDial } from '../../protocols/twiml/dial.ts';

/** The stream's parameter that says that Twilio asks what follows it. */
export const AFTER_PARAMETER = { name: 'after', value: 'redirect' } as const;

const API_URL = 'https://api.twilio.com';
const REQUEST_TIMEOUT_MS = 5000;
/** Most documents that wait at once. */
const WAITING_MAX = 2000;
/** An account's or a call's name stands in a path. */
const SID = /^[A-Za-z0-9]{1,64}$/;

interface TwilioTransfersOptions {
  readonly settings: Pick<Settings, 'TWILIO_ACCOUNT_SID' | 'TWILIO_AUTH_TOKEN'>;
  readonly clock: Clock;
  /** Where any gateway of a cluster finds what follows; absent or null = this one alone does. */
  readonly store?: OneUseStore | null;
  readonly log: Pick<Log, 'warn'>;
  /** Where the REST API is, in place of Twilio's. */
  readonly apiUrl?: string;
}

type Parameters = Readonly<Record<string, string>>;

export class TwilioTransfers {
  readonly #options: TwilioTransfersOptions;
  /** By call: what Twilio is to do when its stream is over. */
  readonly #waiting: OneTime<{ readonly parameters: Parameters; readonly request: TransferRequest }>;
  /** By call: the parameters of a stream that begins when nobody takes it. */
  readonly #dialled: OneTime<Parameters>;

  constructor(options: TwilioTransfersOptions) {
    this.#options = options;
    const { clock, store = null } = options;
    this.#waiting = openOneTime({ clock, itemsMax: WAITING_MAX, kind: 'twilio-transfer', store });
    this.#dialled = openOneTime({ clock, itemsMax: WAITING_MAX, kind: 'twilio-dialled', store });
  }

  /** As a leg does it. Whether anybody answers Twilio says later, if our webhook began the call: {@link comeBack}. */
  async transfer(start: CallStart, request: TransferRequest): Promise<TransferOutcome> {
    const twiml = dialTwiml({ ...request, action: null });
    if (twiml === null) return 'unsupported';
    const { callId, parameters } = start;
    if (parameters[AFTER_PARAMETER.name] === AFTER_PARAMETER.value) {
      this.#waiting.put(callId, { parameters, request });
      await this.#waiting.settled();
      return 'transferred';
    }
    return await this.#change(callId, twiml);
  }

  /**
   * What Twilio is to do when the stream of a call is over; at `action` it says then what became of it.
   * @throws TrunklineError `shared_state_unavailable`
   */
  async followUp(callId: string, action: string): Promise<string> {
    const waiting = await this.#waiting.take(callId);
    if (waiting === null) return endTwiml();
    const { parameters, request } = waiting;
    if (request.resume !== undefined) {
      this.#dialled.put(callId, { ...parameters, resume: request.resume });
      await this.#dialled.settled();
    }
    return dialTwiml({ ...request, action: request.resume === undefined ? null : action }) ?? endTwiml();
  }

  /**
   * The parameters of the stream by which a call comes back to its flow, after a `<Dial>` with this `DialCallStatus`.
   * Null = it ends: somebody had the call, or nothing is known of it any more.
   * @throws TrunklineError `shared_state_unavailable`
   */
  async comeBack(callId: string, status: string): Promise<Parameters | null> {
    const parameters = await this.#dialled.take(callId);
    const result = failedDial(status);
    return parameters === null || result === null ? null : { ...parameters, transferResult: result };
  }

  async #change(callId: string, twiml: string): Promise<TransferOutcome> {
    const { settings, clock, log, apiUrl = API_URL } = this.#options;
    const { TWILIO_ACCOUNT_SID: account, TWILIO_AUTH_TOKEN: token } = settings;
    if (!SID.test(account) || !SID.test(callId) || token === '') return 'unsupported';
    const headers = {
      authorization: `Basic ${Buffer.from(`${account}:${token}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    };
    const body = new URLSearchParams({ Twiml: twiml }).toString();
    const limits = { clock, timeoutMs: REQUEST_TIMEOUT_MS, signal: new AbortController().signal };
    try {
      const { response } = await withinTime(limits, (signal) =>
        guardedFetch({
          url: `${apiUrl}/2010-04-01/Accounts/${account}/Calls/${callId}.json`,
          allowPrivate: apiUrl !== API_URL,
          signal,
          redirectsMax: 0,
          prepare: (url) => ({ url, method: 'POST', headers, body }),
        }),
      );
      response.destroy();
      const { statusCode = 0 } = response;
      if (statusCode >= 200 && statusCode < 300) return 'transferred';
      log.warn({ callId, status: statusCode }, "Twilio's REST API did not take a transfer");
    } catch (error) {
      log.warn({ callId, code: networkCode(error) }, "Twilio's REST API could not be reached for a transfer");
    }
    return 'refused';
  }
}
