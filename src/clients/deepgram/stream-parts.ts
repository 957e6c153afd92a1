/** What all live streams of Deepgram clients work with. */
import type { Engine } from '../../engine-client/engine.ts';
import type { ListeningSettings } from '../../listening/listening-session.ts';
import type { StreamDecoders } from '../../recordings/streams/stream-decoders.ts';
import type { TranscriberMetrics } from '../../transcription/live-transcriber.ts';
import type { PassedOver } from '../shared/passed-over.ts';
import type { StreamSocketOptions } from './stream-socket.ts';
import type { ModelInfo } from './wire/messages.ts';

/** See above. */
export interface StreamParts extends Pick<StreamSocketOptions, 'socket' | 'request' | 'clock' | 'failures'> {
  readonly engine: Engine;
  readonly settings: StreamSocketOptions['settings'] & ListeningSettings;
  readonly metrics: TranscriberMetrics;
  /** For sound in a compressed format. */
  readonly decoders: Pick<StreamDecoders, 'open'>;
  readonly passedOver: PassedOver;
  /** Sound was guessed in place of so many packets. */
  onPacketsBroken(packets: number): void;
  /** The recogniser, as clients are told of it. */
  model(): ModelInfo;
}
