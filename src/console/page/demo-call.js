/** The button of empty pages: a simulated call in the server. */
import { postJson } from './gateway.js';

/** Places one and opens it. @param {import('./view.js').ViewContext} context */
export async function placeDemoCall(context) {
  try {
    const { callId } = await postJson('/v1/demo-call');
    context.go('calls', { id: callId });
  } catch (error) {
    context.fail(error);
  }
}
