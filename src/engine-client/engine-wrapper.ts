/** An engine around another one: what a wrapper says nothing of is what the engine within does. */
import type { VoiceInfo } from '../../engine/contract.ts';
import type { RecogniserAbilities } from '../../engine/recogniser-abilities.ts';
import type {
  Detection,
  DetectRequest,
  SpeakRequest,
  Speech,
  TranscribeRequest,
  Transcript,
  TurnDecision,
  TurnRequest,
} from './engine.ts';
import type { EnginesReport } from './engine-report.ts';
import type { EngineStatus } from './engine-status.ts';
import type { ManagedEngine } from './managed-engine.ts';

export abstract class EngineWrapper implements ManagedEngine {
  protected readonly within: ManagedEngine;

  constructor(within: ManagedEngine) {
    this.within = within;
  }

  get load(): number {
    return this.within.load;
  }

  get finalLoad(): number {
    return this.within.finalLoad;
  }

  get firmLoad(): number {
    return this.within.firmLoad;
  }

  get remoteUse(): number | null {
    return this.within.remoteUse ?? null;
  }

  get isLoading(): boolean {
    return this.within.isLoading === true;
  }

  get voices(): readonly VoiceInfo[] {
    return this.within.voices;
  }

  get languages(): readonly string[] {
    return this.within.languages;
  }

  get abilities(): RecogniserAbilities | null {
    return this.within.abilities;
  }

  get batchMax(): number {
    return this.within.batchMax ?? 1;
  }

  get ttsModel(): string | null {
    return this.within.ttsModel;
  }

  get turnModel(): string | null {
    return this.within.turnModel;
  }

  get status(): EngineStatus {
    return this.within.status;
  }

  get report(): EnginesReport {
    return this.within.report;
  }

  start(): Promise<void> {
    return this.within.start();
  }

  wake(): void {
    this.within.wake();
  }

  keepWhile(isNeeded: () => boolean): void {
    this.within.keepWhile(isNeeded);
  }

  detect(request: DetectRequest): Promise<Detection> {
    return this.within.detect(request);
  }

  speak(request: SpeakRequest): Promise<Speech> {
    return this.within.speak(request);
  }

  turn(request: TurnRequest): Promise<TurnDecision> {
    return this.within.turn(request);
  }

  abstract transcribe(request: TranscribeRequest): Promise<Transcript>;

  close(): Promise<void> {
    return this.within.close();
  }
}
