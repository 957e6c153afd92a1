/** What calls with apps need of other servers; all calls of a gateway share it. */
import type { FetchAudio } from './audio-fetch.ts';
import type { AppReachability } from './reachability.ts';
import type { TwimlClient } from './twiml/client.ts';
import type { Handovers } from './twiml/handovers.ts';

/** The services, made once. */
export interface AppServices {
  readonly fetchAudio: FetchAudio;
  /** Asks apps for TwiML. */
  readonly twiml: TwimlClient;
  /** What apps answered at the end of sessions in Twilio's calls. */
  readonly handovers: Handovers;
  /** Which apps can be reached. */
  readonly reachability: AppReachability;
}
