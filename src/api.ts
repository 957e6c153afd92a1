/** What other programs import from `trunkline`: a gateway to run inside them, and the types that it speaks in. */
export type { CallNames } from './calls/call-names.ts';
export type { CallPhase } from './calls/call-phase.ts';
export type { CallCounts, CallView } from './calls/call-view.ts';
export type {
  AppConnectionEvent,
  AppMutedEvent,
  CallDeletedEvent,
  CallEndedEvent,
  CallResumedEvent,
  CallRingingEvent,
  CallStartedEvent,
  CallStateEvent,
  CallTransferredEvent,
  CallUpdatedEvent,
  CaptionEvent,
  DtmfEvent,
  EndReason,
  FeedEvent,
  FlowEndedEvent,
  FlowInputEvent,
  FlowMessageEvent,
  FlowOutcome,
  FlowStartedEvent,
  FlowStepEvent,
  GapEvent,
  GapReason,
  HintEvent,
  LagEvent,
  MarkEvent,
  NoteEvent,
  RevisionEvent,
  SoundStateEvent,
  SpeechEvent,
  SpokenEvent,
} from './calls/feed/events.ts';
export type { EngineStartListener, ReadyModels } from './engine-client/start-listener.ts';
export { ListenError } from './foundation/listen.ts';
export type { Log } from './foundation/log/log.ts';
export { ConfigError, readSettings } from './foundation/settings/config.ts';
export type { SettingName, Settings } from './foundation/settings/settings.ts';
export { type Gateway, type GatewayOptions, runGateway } from './gateway/main.ts';
export type { Track } from './protocols/dialect.ts';
