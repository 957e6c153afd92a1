/** Sends a channel that waits in our application to somebody else: on in the dialplan, or to an endpoint. */
import type { TransferRequest } from '../../../calls/leg.ts';
import { isObject } from '../../../protocols/json.ts';
import { type DialplanPlace, readTransferTarget } from '../wire/transfer-target.ts';
import { type Ari, isGone } from './ari.ts';

/** A request's line of Asterisk has room for 8 kB with all that stands in it. */
const HANDOFF_MAX_BYTES = 4096;

/**
 * What became of it. `asked`: Asterisk tries, and the channel leaves our application when that succeeds.
 */
export type ChannelTransfer = 'transferred' | 'asked' | 'refused' | 'unsupported';

/**
 * Sends the channel on. The dialplan finds `transferred` in TRUNKLINE_STATUS, and in TRUNKLINE_HANDOFF what was given
 * for it, if that has at most 4096 bytes.
 * @throws AriError
 */
export async function transferChannel(ari: Ari, channelId: string, request: TransferRequest): Promise<ChannelTransfer> {
  const channel = `/channels/${encodeURIComponent(channelId)}`;
  const target = readTransferTarget(request.to);
  if (target === null) return 'unsupported';
  try {
    if (target.type === 'dialplan' && !(await isThere(ari, channel, target))) return 'refused';
    await setVariables(ari, channel, request);
    if (target.type === 'endpoint') {
      await ari.post(`${channel}/redirect`, { endpoint: target.endpoint });
      return 'asked';
    }
    const { context, extension, priority } = target;
    await ari.post(`${channel}/continue`, {
      ...(context === null ? {} : { context }),
      extension,
      ...(/^\d+$/.test(priority) ? { priority } : { label: priority }),
    });
    return 'transferred';
  } catch (error) {
    if (isGone(error)) return target.type === 'endpoint' ? 'unsupported' : 'refused';
    throw error;
  }
}

/** A channel that goes on where nothing is would be hung up. True where Asterisk cannot say. */
async function isThere(ari: Ari, channel: string, { context, extension, priority }: DialplanPlace): Promise<boolean> {
  const where = context ?? (await variableOf(ari, channel, 'CONTEXT'));
  if (where === null || where === '') return true;
  return (await variableOf(ari, channel, `DIALPLAN_EXISTS(${where},${extension},${priority})`)) !== '0';
}

/** Null = there is no such variable, or no such function is loaded. */
async function variableOf(ari: Ari, channel: string, variable: string): Promise<string | null> {
  try {
    const found = await ari.get(`${channel}/variable`, { variable });
    return isObject(found) && typeof found['value'] === 'string' ? found['value'] : null;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

async function setVariables(ari: Ari, channel: string, { from, handoffData }: TransferRequest): Promise<void> {
  const handoff = handoffData !== null && Buffer.byteLength(handoffData) <= HANDOFF_MAX_BYTES ? handoffData : null;
  const variables = {
    TRUNKLINE_STATUS: 'transferred',
    ...(handoff === null ? {} : { TRUNKLINE_HANDOFF: handoff }),
    ...(from === null ? {} : { 'CALLERID(num)': from }),
  };
  for (const [variable, value] of Object.entries(variables)) await ari.post(`${channel}/variable`, { variable, value });
}
