/** Who speaks on each track; null = no name was given. */
export interface CallNames {
  readonly inbound: string | null;
  readonly outbound: string | null;
}
