/** Calls with session timers on a {@link SipLine}, in both directions. */
import { OutgoingCall } from '../../../src/carriers/sip/outgoing.ts';
import { settle } from '../../fakes/clock.ts';
import { answer, headerIn, OFFER, request, type SipLine } from './line.ts';

export const ID = 'call-1@192.0.2.7';
export const CONTACT = 'Contact: <sip:far@192.0.2.7:5070>';
export const ALLOW = 'Allow: INVITE, ACK, BYE, UPDATE';
export const TIMER = 'Supported: timer';

/** A call of the peer, whose INVITE has these headers. Returns our answer and its To. */
export async function ring(line: SipLine, headers: readonly string[]): Promise<{ ok: string; to: string }> {
  await line.receive(request('INVITE', { body: OFFER, headers }));
  const ok = line.take().at(-1) ?? '';
  const to = headerIn(ok, 'To');
  await line.receive(request('ACK', { to }));
  return { ok, to };
}

interface Asked {
  readonly callId?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** Of the trunks, in the order in which they are tried. */
  readonly hosts?: readonly [string, ...string[]];
  readonly timeoutMs?: number;
}

/** A call of ours; returns the INVITE. */
export async function dial(
  line: SipLine,
  { callId = ID, parameters = {}, hosts = ['192.0.2.7'], timeoutMs }: Asked = {},
): Promise<string> {
  const parties = { to: '+14155550100', from: '1001' };
  const [first, ...others] = hosts;
  const call = new OutgoingCall({
    ...line.services,
    request: { callId, ...parties, parameters, ...(timeoutMs !== undefined && { timeoutMs }) },
    ways: [line.way(first, parties), ...others.map((host) => line.way(host, parties))],
    mayCall: line.mayCall,
    transfer: null,
    clock: line.gateway.clock,
    onEarly: (id, early) => line.switchboard.setEarly(id, early),
    onDialog: (dialog) => line.switchboard.remember(dialog),
    onGone: () => undefined,
  });
  await call.dial();
  await settle();
  return line.take().at(-1) ?? '';
}

/** The same, answered with these headers. */
export async function dialled(line: SipLine, headers: readonly string[]): Promise<string> {
  const invite = await dial(line);
  await line.receive(answer(invite, '200 OK', [CONTACT, ...headers], OFFER));
  line.take();
  return invite;
}

/** Lets time pass; returns what was sent meanwhile, repetitions left out. */
export async function pass(line: SipLine, seconds: number): Promise<string[]> {
  await line.gateway.clock.run(seconds * 1000, Math.max(500, seconds * 100));
  return [...new Set(line.take())];
}

/** Why the call ended; null = it has not. */
export function endReason(line: SipLine): string | null | undefined {
  return line.gateway.registry.get(ID)?.endReason;
}

/** `BYE`, `UPDATE` … of messages. */
export function methodsIn(texts: readonly string[]): (string | undefined)[] {
  return texts.map((text) => text.split(' ')[0]);
}
