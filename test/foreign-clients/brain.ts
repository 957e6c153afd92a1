/**
 * A chat endpoint for sessions that speak: it calls the client's tool, then tells something that does not end, and says
 * at last whether what it told came back cut short, as it must where the user interrupted.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const STORY = 'Thank you for your message, we are closed today, so please call us again tomorrow in the morning.';
/** Sentences that our recogniser does not mistake. */
const CUT = 'Please leave a message after the tone.';
const NOT_CUT = 'The weather is very nice today.';
const TOOL_CALL = {
  tool_calls: [{ index: 0, id: 'call_1', function: { name: 'save_message', arguments: '{"caller":"Anna"}' } }],
};

interface Message {
  readonly role: string;
  readonly content: string | null;
}

interface Asked {
  readonly messages: readonly Message[];
}

/** A running one. */
export interface ChatBrain {
  /** What `LLM_BASE_URL` is to be. */
  readonly url: string;
  close(): void;
}

/** Starts one on a free loopback port. */
export async function startBrain(): Promise<ChatBrain> {
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    answer(JSON.parse(Buffer.concat(chunks).toString()) as Asked, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer({ messages }: Asked, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const write = (delta: object) => response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
  const isTold = messages.some(({ role }) => role === 'tool');
  if (messages.at(-1)?.role === 'tool') {
    // A sentence is spoken when the next one begins. This one is never finished.
    write({ content: `${STORY} And` });
    return;
  }
  if (!messages.some(({ role }) => role === 'user')) write({ content: 'How can I help you?' });
  else if (isTold) write({ content: wasCut(messages) ? CUT : NOT_CUT });
  else write(TOOL_CALL);
  response.end('data: [DONE]\n\n');
}

function wasCut(messages: readonly Message[]): boolean {
  const told = messages.filter(({ role, content }) => role === 'assistant' && content?.startsWith('Thank'));
  return told.length === 1 && (told[0]?.content?.length ?? 0) < STORY.length;
}
