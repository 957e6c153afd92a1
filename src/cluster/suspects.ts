/** Gateways that are silent: each is asked at its own address whether it lives. */

/** So many questions in a row without an answer mean that it cannot be reached. */
const FAILURES = 2;

interface SuspectsOptions<Member> {
  /** Whether it answers. Must not reject, and must come to an end. */
  readonly ask: (member: Member) => Promise<boolean>;
  /** One of them answers. */
  readonly onReached: () => void;
}

interface Suspect {
  failures: number;
  isAsked: boolean;
}

/** Asks those that are silent, one question at a time each. */
export class Suspects<Member extends { readonly id: string }> {
  readonly #options: SuspectsOptions<Member>;
  readonly #suspects = new Map<string, Suspect>();
  readonly #reached = new Set<string>();

  constructor(options: SuspectsOptions<Member>) {
    this.#options = options;
  }

  /** These are silent just now, and no others. */
  note(silent: readonly Member[]): void {
    const ids = new Set(silent.map(({ id }) => id));
    for (const id of this.#suspects.keys()) if (!ids.has(id)) this.#suspects.delete(id);
    for (const member of silent) void this.#ask(member);
  }

  /** Whether it was asked and does not answer. */
  isUnreachable(id: string): boolean {
    return (this.#suspects.get(id)?.failures ?? 0) >= FAILURES;
  }

  /** Those that have answered since this was called last. */
  takeReached(): readonly string[] {
    const reached = [...this.#reached];
    this.#reached.clear();
    return reached;
  }

  async #ask(member: Member): Promise<void> {
    const { id } = member;
    const suspect = this.#suspects.get(id) ?? { failures: 0, isAsked: false };
    this.#suspects.set(id, suspect);
    if (suspect.isAsked) return;
    suspect.isAsked = true;
    const isReached = await this.#options.ask(member);
    suspect.isAsked = false;
    suspect.failures = isReached ? 0 : suspect.failures + 1;
    if (!isReached) return;
    this.#reached.add(id);
    this.#options.onReached();
  }
}
