/** What an example of an operation is. */

/** Bodies as the API's description shows them. A test compares each with its schema. */
export interface OperationExample {
  /** As `application/json`. */
  readonly request?: unknown;
  /** As a form; a file is its name. */
  readonly form?: unknown;
  /** The answer with the lowest status of success, of its first content type. */
  readonly response?: unknown;
}

/** By `operationId`. */
export type Examples = Readonly<Record<string, OperationExample>>;
