/** Where a channel of Asterisk can be sent: a place in its dialplan, or an endpoint. */

/** A place in the dialplan. */
export interface DialplanPlace {
  readonly type: 'dialplan';
  /** Null = the one that the channel comes from. */
  readonly context: string | null;
  readonly extension: string;
  /** A number, or a label. */
  readonly priority: string;
}

/** An endpoint by its technology: `PJSIP/6002`. */
export interface EndpointTarget {
  readonly type: 'endpoint';
  readonly endpoint: string;
}

/** Channel technologies; a context of the same name would have to be written otherwise. */
const ENDPOINT = /^(?:PJSIP|SIP|IAX2|DAHDI)\/[\w.+*@:-]{1,128}$/i;
/** AST_MAX_CONTEXT and AST_MAX_EXTENSION are 80 characters with their end. */
const PLACE = /^(?:([\w.-]{1,79})\/)?([\w.+*#-]{1,79})(?:\/([A-Za-z0-9_-]{1,40}))?$/;
const WRITTEN_NUMBER = /^\+?[\s().-]*\d[\d\s().-]*$/;

/** `context/extension[/priority]`, an extension or number alone, or `PJSIP/6002`. Null = none of these. */
export function readTransferTarget(to: string): DialplanPlace | EndpointTarget | null {
  const text = to.trim();
  if (ENDPOINT.test(text)) return { type: 'endpoint', endpoint: text };
  const written = WRITTEN_NUMBER.test(text) ? text.replace(/[\s().-]/g, '') : text;
  const [, context = null, extension, priority = '1'] = PLACE.exec(written) ?? [];
  return extension === undefined ? null : { type: 'dialplan', context, extension, priority };
}
