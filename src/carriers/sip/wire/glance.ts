/** A quick look at a SIP message, before anything of it is believed or read in full. */

/** What a message says of its place, before anything of it is believed or read in full. */
export interface SipGlance {
  readonly kind: 'request' | 'response';
  readonly method: string;
  readonly branch: string;
  readonly callId: string;
  readonly fromTag: string;
  readonly toTag: string;
}

/** Names stand before this. */
const GLANCE_CHARS = 8192;

/** A look at a message that costs next to nothing, so that a flood can be told from calls. What is not there is ''. */
export function glanceSip(message: string): SipGlance {
  const text = message.slice(0, GLANCE_CHARS);
  return {
    kind: text.startsWith('SIP/2.0 ') ? 'response' : 'request',
    method: /^cseq[ \t]*:[ \t]*\d+[ \t]+(\w+)/im.exec(text)?.[1] ?? '',
    branch: /;[ \t]*branch[ \t]*=[ \t]*([^;,\s]+)/i.exec(text)?.[1] ?? '',
    callId: /^(?:call-id|i)[ \t]*:[ \t]*(\S+)/im.exec(text)?.[1] ?? '',
    fromTag: /^(?:from|f)[ \t]*:[^\r\n]*;[ \t]*tag[ \t]*=[ \t]*([^;\s]+)/im.exec(text)?.[1] ?? '',
    toTag: /^(?:to|t)[ \t]*:[^\r\n]*;[ \t]*tag[ \t]*=[ \t]*([^;\s]+)/im.exec(text)?.[1] ?? '',
  };
}
