/** sip.js's reader of messages, which says what it cannot read. */
import {
  type IncomingRequestMessage,
  type IncomingResponseMessage,
  LoggerFactory,
  Parser,
} from 'sip.js/lib/core/index.js';
import { SipFault } from './wire/fault.ts';

/** sip.js would print whole messages, with numbers in them. */
export function silentLoggers(): LoggerFactory {
  const loggers = new LoggerFactory();
  loggers.builtinEnabled = false;
  return loggers;
}

/**
 * A message as sip.js has it. What it cannot read it tells nobody but its log: there alone stands the name of the
 * header.
 * @throws SipFault
 */
export function parseSip(text: string): IncomingRequestMessage | IncomingResponseMessage {
  const loggers = silentLoggers();
  let what = 'a header';
  loggers.connector = (_level, _category, _label, content) => {
    const [, name] = /^error parsing header '([\w-]+)'$/.exec(content) ?? [];
    if (name !== undefined) what = `a header ${name.toLowerCase()}`;
  };
  const message = Parser.parseMessage(text, loggers.getLogger('parser'));
  if (message === undefined) throw new SipFault(`${what} that cannot be read`, 'one as in RFC 3261');
  return message;
}
