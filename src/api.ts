/** What other programs import from `trunkline`: a gateway to run inside them, and the types that it speaks in. */
export type {
  CallEndedEvent,
  CallStartedEvent,
  CaptionEvent,
  DtmfEvent,
  EndReason,
  FeedEvent,
  GapEvent,
  GapReason,
  LagEvent,
  RevisionEvent,
  SpeechEvent,
  SpokenEvent,
} from './calls/feed/events.ts';
export type { CallView } from './calls/registry.ts';
export type { EngineStartListener, ReadyModels } from './engine-client/start-listener.ts';
export type { Log } from './foundation/log/log.ts';
export { ConfigError, readSettings } from './foundation/settings/config.ts';
export type { SettingName, Settings } from './foundation/settings/settings.ts';
export { ListenError } from './listen.ts';
export { type Gateway, type GatewayOptions, runGateway } from './main.ts';
export type { Track } from './protocols/dialect.ts';
