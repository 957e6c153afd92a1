/** Where a peer wants our requests within its call (RFC 3261 §12.2): the Contact of what it sent last. */
import { isIP } from 'node:net';
import {
  type Dialog,
  type IncomingRequestMessage,
  type IncomingResponseMessage,
  NameAddrHeader,
  type URI,
} from 'sip.js/lib/core/index.js';
import { isPublicAddress } from '../../foundation/addresses.ts';
import type { SipSource } from './wire/via.ts';

/**
 * A peer behind a NAT names itself by an address that only its own network knows. What it is to be told later goes to
 * where it spoke from, unless a proxy has asked for it (Record-Route), be it in the first message of `dialog`.
 */
export function reachAtSource(
  message: IncomingRequestMessage | IncomingResponseMessage,
  source: SipSource,
  dialog?: Dialog,
): void {
  const uri = contactOf(message);
  if (uri === null || message.hasHeader('record-route') || (dialog?.routeSet.length ?? 0) > 0) return;
  const host = uri.host.replace(/^\[|\]$/g, '');
  if (isIP(host) === 0 || isPublicAddress(host) || host === source.address) return;
  uri.host = source.address.includes(':') ? `[${source.address}]` : source.address;
  uri.port = source.port;
}

/** An UPDATE has been accepted: our requests go to its Contact from now on. sip.js knows this of INVITE alone. */
export function moveTarget(dialog: Dialog, message: IncomingRequestMessage): void {
  const remoteTarget = contactOf(message);
  const isOvertaken = message.cseq < (dialog.remoteSequenceNumber ?? 0);
  if (remoteTarget === null || isOvertaken) return;
  const { dialogState } = dialog as unknown as { readonly dialogState: { remoteTarget: URI } };
  dialogState.remoteTarget = remoteTarget;
}

function contactOf(message: IncomingRequestMessage | IncomingResponseMessage): URI | null {
  const contact: unknown = message.hasHeader('contact') ? message.parseHeader('contact') : undefined;
  return contact instanceof NameAddrHeader ? contact.uri : null;
}
