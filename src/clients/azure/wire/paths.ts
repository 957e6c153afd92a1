/**
 * The paths of Azure OpenAI (https://learn.microsoft.com/azure/ai-foundry/openai/reference) as OpenAI's, which answer
 * them: a deployment is a model there, and the query `api-version` means nothing here.
 */

/** What a deployment can be asked for here. */
const OF_DEPLOYMENT = /^\/openai\/deployments\/[^/]+(\/audio\/(?:transcriptions|translations|speech))$/;

/** `url` = path and query. Null = it is no path of Azure's. */
export function openAiUrl(url: string): string | null {
  if (!url.startsWith('/openai/')) return null;
  const [path = '', ...rest] = url.split('?');
  const query = new URLSearchParams(rest.join('?'));
  query.delete('api-version');
  const deployed = OF_DEPLOYMENT.exec(path)?.[1];
  if (deployed !== undefined) return written(`/v1${deployed}`, query);
  if (path.startsWith('/openai/v1/')) return written(path.slice('/openai'.length), query);
  if (path === '/openai/models') return written('/v1/models', query);
  if (path !== '/openai/realtime') return null;
  const deployment = query.get('deployment');
  query.delete('deployment');
  if (deployment !== null && !query.has('model')) query.set('model', deployment);
  return written('/v1/realtime', query);
}

function written(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query}`;
}
