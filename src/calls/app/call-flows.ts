/** What calls know of flows: that a call may follow one, and which. */
import type { CallStart } from '../../protocols/dialect.ts';
import type { CallContext } from '../context.ts';
import type { CallApp, CallAppOptions } from './call-app.ts';
import { callParameter } from './request.ts';

/** A flow as it is now. */
export interface CallFlow {
  readonly name: string;
  /** Another one with every change of its files. */
  readonly version: string;
  /** Begins it in a call, which keeps this version. */
  open(options: CallAppOptions): CallApp;
}

/** The flows of a gateway. */
export interface CallFlows {
  /** Null = there is none of this name. */
  named(name: string): CallFlow | null;
  /** The flow of the called number, or of the SIP user; null = none. `told` = as the carrier named it. */
  calledAt(told: string | null): CallFlow | null;
}

/** What all calls of one gateway share, with the flows that they may follow. */
export interface FlowContext extends CallContext {
  /** Those of FLOWS_DIR; absent or null = there are none. */
  readonly flows?: CallFlows | null;
}

/** What is said of the flow of a call: its name, and the flow, null where there is none of that name. */
export interface ChosenFlow {
  readonly name: string;
  readonly flow: CallFlow | null;
}

/** The longest name that is looked for: nobody calls a flow so. */
const NAME_MAX_CHARS = 64;

type FlowRelevant = Pick<CallStart, 'parameters' | 'playback' | 'relay' | 'outgoing' | 'to'>;

/**
 * Which flow a call follows: the one that its parameters name, or else, unless they name an app or TwiML, that of the
 * number that was called; of calls that we make that is no number of ours. Null = none is asked for, or the carrier
 * takes no sound.
 */
export function chooseFlow(start: FlowRelevant, flows: CallFlows | null | undefined): ChosenFlow | null {
  const { parameters, playback, relay, outgoing = false, to } = start;
  if (playback === 'none') return null;
  const name = callParameter(parameters, 'flow')?.trim() ?? '';
  const named = name === '' || name.length > NAME_MAX_CHARS ? null : (flows?.named(name) ?? null);
  if (named !== null) return { name, flow: named };
  const hasApp = relay !== undefined || ['app', 'twiml'].some((own) => callParameter(parameters, own) !== undefined);
  const called = hasApp || outgoing ? null : (flows?.calledAt(to) ?? null);
  if (called !== null) return { name: called.name, flow: called };
  return name === '' ? null : { name: name.slice(0, NAME_MAX_CHARS), flow: null };
}
