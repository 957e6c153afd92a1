/** The servers of ASR_URL and TTS_URL. */
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import {
  ASR_SCHEMES,
  type AsrScheme,
  parseRemoteUrl,
  type RemoteUrl,
  TTS_SCHEMES,
} from '../../foundation/settings/remote-urls.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { OpenaiRecogniser } from './openai-recogniser.ts';
import { RemoteMember } from './remote-member.ts';
import type { RemoteRecogniser } from './remote-recogniser.ts';
import { RemoteSpeaker } from './remote-speaker.ts';
import { SherpaRecogniser } from './sherpa-recogniser.ts';
import { TritonRecogniser } from './triton-recogniser.ts';
import { WyomingRecogniser } from './wyoming-recogniser.ts';

type RemoteSettings = Pick<Settings, 'ASR_URL' | 'ASR_API_KEY' | 'ASR_URL_MODEL'>;
type SpeakerSettings = Pick<Settings, 'TTS_URL' | 'TTS_API_KEY' | 'TTS_URL_MODEL'>;

/** What servers are looked after with. */
interface Parts {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What a recogniser is opened with; '' = none. */
interface Access {
  readonly apiKey: string;
  readonly model: string;
}

/** The protocol of each URL scheme. */
const PROTOCOLS: Readonly<Record<AsrScheme, (url: URL, access: Access) => RemoteRecogniser>> = {
  http: (url, access) => new OpenaiRecogniser(url, access),
  https: (url, access) => new OpenaiRecogniser(url, access),
  triton: (url, access) => new TritonRecogniser(url, access),
  'sherpa+ws': (url) => new SherpaRecogniser(url),
  wyoming: (url) => new WyomingRecogniser(url),
};

/** A server of ASR_URL, ready to be asked. */
interface OpenedRemote {
  readonly remote: RemoteUrl<AsrScheme>;
  /** For people, without credentials. */
  readonly name: string;
  readonly recogniser: RemoteRecogniser;
}

/** One for each server of ASR_URL. Nothing is sent yet; the caller closes them. */
export function openRecognisers(settings: RemoteSettings): OpenedRemote[] {
  const access = { apiKey: settings.ASR_API_KEY, model: settings.ASR_URL_MODEL };
  return settings.ASR_URL.flatMap((text) => {
    const remote = parseRemoteUrl(text, ASR_SCHEMES);
    if (remote === null) return [];
    return [{ remote, name: nameOf(remote.url), recogniser: PROTOCOLS[remote.scheme](remote.url, access) }];
  });
}

/** The same as members of an engine. */
export function openMembers(settings: RemoteSettings, parts: Parts): RemoteMember[] {
  return openRecognisers(settings).map(({ remote, name, recogniser }) => {
    const { weight, inFlightMax, languages } = remote;
    const { url } = remote;
    return new RemoteMember({ ...parts, recogniser, name, url, weight, inFlightMax, languages });
  });
}

/** One for each server of TTS_URL. Nothing is sent yet; the caller closes them. */
export function openSpeakers(settings: SpeakerSettings, parts: Parts): RemoteSpeaker[] {
  const access = { apiKey: settings.TTS_API_KEY, model: settings.TTS_URL_MODEL };
  return settings.TTS_URL.flatMap((text) => {
    const remote = parseRemoteUrl(text, TTS_SCHEMES);
    return remote === null ? [] : [new RemoteSpeaker({ ...parts, ...access, remote, name: nameOf(remote.url) })];
  });
}

/** Tells servers apart for people, without a query, which may have a key in it. */
function nameOf({ host, pathname }: URL): string {
  return pathname === '/' || pathname === '/v1' ? host : `${host}${pathname}`;
}
