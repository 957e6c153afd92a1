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
  protected readonly inner: ManagedEngine;

  constructor(inner: ManagedEngine) {
    this.inner = inner;
  }

  get load(): number {
    return this.inner.load;
  }

  get finalLoad(): number {
    return this.inner.finalLoad;
  }

  get firmLoad(): number {
    return this.inner.firmLoad;
  }

  get remoteUse(): number | null {
    return this.inner.remoteUse ?? null;
  }

  get isLoading(): boolean {
    return this.inner.isLoading === true;
  }

  get voices(): readonly VoiceInfo[] {
    return this.inner.voices;
  }

  get languages(): readonly string[] {
    return this.inner.languages;
  }

  get abilities(): RecogniserAbilities | null {
    return this.inner.abilities;
  }

  get batchMax(): number {
    return this.inner.batchMax ?? 1;
  }

  get ttsModel(): string | null {
    return this.inner.ttsModel;
  }

  get turnModel(): string | null {
    return this.inner.turnModel;
  }

  get status(): EngineStatus {
    return this.inner.status;
  }

  get report(): EnginesReport {
    return this.inner.report;
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  wake(): void {
    this.inner.wake();
  }

  keepWhile(isNeeded: () => boolean): void {
    this.inner.keepWhile(isNeeded);
  }

  detect(request: DetectRequest): Promise<Detection> {
    return this.inner.detect(request);
  }

  speak(request: SpeakRequest): Promise<Speech> {
    return this.inner.speak(request);
  }

  turn(request: TurnRequest): Promise<TurnDecision> {
    return this.inner.turn(request);
  }

  abstract transcribe(request: TranscribeRequest): Promise<Transcript>;

  close(): Promise<void> {
    return this.inner.close();
  }
}
