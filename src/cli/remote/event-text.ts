/** Events of calls in words, for a terminal. Pure. */
import type { CallEndedEvent, CaptionEvent, FeedEvent } from '../../calls/feed/events.ts';
import type { Track } from '../../protocols/dialect.ts';
import { correctedWords, missingWords, shortTime } from '../caption-display.ts';

/** What a line says, and of when (null = of no moment of the call); `speaker` = a track, or who else. */
export interface EventText {
  readonly atMs: number | null;
  readonly speaker: Track | 'App' | '';
  readonly text: string;
}

/** Null = nothing that a reader of the talk needs, or no line of its own, as a partial caption. */
export function textOfEvent(event: FeedEvent): EventText | null {
  switch (event.type) {
    case 'caption':
      return event.final ? { atMs: event.startMs, speaker: event.track, text: captionText(event) } : null;
    case 'revision':
      return { atMs: event.startMs, speaker: event.track, text: correctedWords(event) };
    case 'gap':
      return { atMs: event.startMs, speaker: event.track, text: missingWords(event) };
    case 'spoken':
      return { atMs: event.startMs, speaker: 'App', text: event.interrupted ? cutOff(event.heardText) : event.text };
    case 'dtmf':
      return { atMs: event.atMs, speaker: 'inbound', text: `[key ${event.digit}]` };
    case 'call.state':
      return { atMs: event.atMs, speaker: '', text: `[${event.state}]` };
    case 'call.resumed':
      return { atMs: event.atMs, speaker: '', text: '[goes on: its server is reached again]' };
    case 'call.transferred':
      return {
        atMs: event.atMs,
        speaker: '',
        text: event.to === null ? '[transferred]' : `[transferred to ${event.to}]`,
      };
    case 'call.assigned':
      return { atMs: event.atMs, speaker: '', text: `[with ${event.names.outbound ?? event.agent ?? 'nobody yet'}]` };
    case 'answered':
      return { atMs: event.atMs, speaker: '', text: `[answered by ${event.by}]` };
    case 'beep':
      return { atMs: event.atMs, speaker: '', text: event.heard ? '[beep]' : '[the machine has fallen silent]' };
    case 'fax':
      return { atMs: event.atMs, speaker: '', text: `[fax: ${event.tone}]` };
    case 'app.lost':
    case 'app.back':
    case 'app.muted':
    case 'app.unmuted':
      return { atMs: event.atMs, speaker: 'App', text: `[${event.type.slice('app.'.length)}]` };
    case 'flow.started':
      return { atMs: event.atMs, speaker: '', text: `[flow ${event.flow}, version ${event.version}]` };
    case 'flow.step':
      return { atMs: event.atMs, speaker: '', text: `[step ${event.step}: ${event.verb}]` };
    case 'flow.message':
      return { atMs: event.startMs, speaker: '', text: `[${event.message}, ${event.endMs - event.startMs} ms]` };
    case 'flow.ended':
      return { atMs: event.atMs, speaker: '', text: `[flow ${event.flow} ended: ${event.outcome}]` };
    case 'note':
      return { atMs: null, speaker: '', text: `[note by ${event.author}] ${event.text}` };
    case 'mark':
      return { atMs: event.atMs, speaker: '', text: `[mark by ${event.author}] ${event.label}` };
    case 'call.ended':
      return { atMs: event.durationMs, speaker: '', text: `[ended: ${endOf(event)}, ${shortTime(event.durationMs)}]` };
    default:
      return null;
  }
}

function endOf({ reason, sip }: CallEndedEvent): string {
  return sip === undefined ? reason : `${reason} (${sip.status} ${sip.reason})`;
}

/** Words of others than whoever speaks into the phone are told apart. */
function captionText({ text, background }: CaptionEvent): string {
  return background ? `[background] ${text}` : text;
}

function cutOff(heardText: string): string {
  return `${heardText} [cut off]`.trimStart();
}
