/** What only one of several gateways does at a time. */

/** Told when this gateway begins to lead in a role, and when it no longer does. Must not throw. */
export interface LeadHandlers {
  onLead(): void;
  /** Another gateway leads, or this one was declared dead. Not called after `resign`. */
  onLost(): void;
}

/** A wish to lead. */
export interface Leadership {
  readonly isLeading: boolean;
  /** Gives the role up, for another gateway to take it. Idempotent. Never rejects. */
  resign(): Promise<void>;
}

/**
 * Has this gateway lead in `role` whenever no other one does. To be called once for each role; roles of the same name
 * are the same on all gateways.
 */
export type Lead = (role: string, handlers: LeadHandlers) => Leadership;
