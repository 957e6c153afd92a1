/** All parts: those that fill slots of calls first, then in the order in which people read of them. */
import { administration } from '../administration/part.ts';
import { asterisk } from '../carriers/asterisk/part.ts';
import { audioHook } from '../carriers/audiohook/part.ts';
import { audioSocket } from '../carriers/audiosocket/part.ts';
import { exotel } from '../carriers/exotel/part.ts';
import { freeswitch } from '../carriers/freeswitch/part.ts';
import { plivo } from '../carriers/plivo/part.ts';
import { signalwire } from '../carriers/signalwire/part.ts';
import { sip } from '../carriers/sip/part.ts';
import { telnyx } from '../carriers/telnyx/part.ts';
import { twilio } from '../carriers/twilio/part.ts';
import { vonage } from '../carriers/vonage/part.ts';
import { azure } from '../clients/azure/part.ts';
import { deepgram } from '../clients/deepgram/part.ts';
import { jambonz } from '../clients/jambonz/part.ts';
import { qwen } from '../clients/qwen/part.ts';
import { realtime } from '../clients/realtime/part.ts';
import { consolePage } from '../console/part.ts';
import { flows } from '../flows/part.ts';
import { hints } from '../hints/part.ts';
import { jobs } from '../jobs/part.ts';
import type { Part } from '../parts/part.ts';
import { tracing } from '../tracing/part.ts';

/** A new part is a folder and a line here. */
export const PARTS: readonly Part[] = [
  flows,
  tracing,
  twilio,
  signalwire,
  telnyx,
  plivo,
  vonage,
  exotel,
  audioHook,
  asterisk,
  audioSocket,
  freeswitch,
  sip,
  deepgram,
  jambonz,
  qwen,
  realtime,
  azure,
  hints,
  jobs,
  administration,
  consolePage,
];
