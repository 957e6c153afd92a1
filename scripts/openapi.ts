/** The description of the API as a file, made from the routes of a server that does not listen. */
import { stringify } from 'yaml';
import { startServer } from '../test/http/test-server.ts';

const HEAD = `# The HTTP API (OpenAPI 3.1), made by \`npm run docs\` from the routes in src/http. Do not edit it.
# What changes here changes for the programs of others: see CONTRIBUTING.md, "Add an endpoint".
`;

/** The text of docs/reference/openapi.yaml. */
export async function openApiFile(): Promise<string> {
  const { app } = await startServer();
  try {
    const description: unknown = (await app.inject('/docs/json')).json();
    return HEAD + stringify(description, { lineWidth: 120, aliasDuplicateObjects: false });
  } finally {
    await app.close();
  }
}
