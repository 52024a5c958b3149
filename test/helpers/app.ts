import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { AnalysisRunner } from '../../src/analysis/run.ts'
import { app } from '../../src/app.ts'
import { undeclared } from './declared.ts'

export const ROOT_KEY = 'root-key-for-tests-0123456789abcdef'

type Vars = Record<string, string>

/** Sends a request to the whole app, with variables changed only for this request. */
export async function request(path: string, init: RequestInit = {}, vars: Vars = {}): Promise<Response> {
  const ctx = createExecutionContext()
  const url = path.startsWith('http') ? path : `http://bellwether.test${path}`
  const scope = Object.keys(vars).length === 0 ? env : changed({ ...env, ...vars }, ctx)
  const asked = new Request(url, init)
  const response = await app.fetch(asked, scope, ctx)
  // A test's own bindings may cause responses that the document does not declare.
  const isWhole = Object.values<unknown>(vars).every((value) => typeof value === 'string')
  if (response.status !== 101 && isWhole) {
    const faults = await undeclared(asked, response)
    if (faults.length > 0) throw new Error(`not as the document has it: ${faults.join('\n')}`)
  }
  // A stream does not end after its headers, so waiting for its body would never end.
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') && response.status !== 101) {
    await waitOnExecutionContext(ctx)
  }
  return response
}

/** The variables also apply to a synchronous analysis of the request. */
function changed(scope: Env, ctx: ExecutionContext): Env {
  return { ...scope, ANALYSIS_RUNNER: new AnalysisRunner(ctx, scope) as unknown as Env['ANALYSIS_RUNNER'] }
}

type Init = { method?: string; body?: unknown; headers?: Record<string, string> }
export type Client = {
  key: string
  keyId: string
  owner: string
  /** Sends a request with this client's key; `body` is sent as JSON unless it is a FormData. */
  ask(path: string, init?: Init): Promise<Response>
  json<T = Record<string, unknown>>(path: string, init?: Init): Promise<T>
}

let count = 0

/** A client with a new key, for an owner that no other test uses. */
export async function client(
  options: { owner?: string; scopes?: string[]; expires_at?: string } = {},
): Promise<Client> {
  count += 1
  const owner = options.owner ?? `owner-${count}-${crypto.randomUUID().slice(0, 8)}`
  const response = await request('/api/keys', {
    method: 'POST',
    headers: { 'x-session-api-key': ROOT_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({
      owner,
      name: 'test',
      scopes: options.scopes ?? ['conversations', 'analysis'],
      ...(options.expires_at ? { expires_at: options.expires_at } : {}),
    }),
  })
  if (response.status !== 201) throw new Error(`no key: ${response.status} ${await response.text()}`)
  const { key, id } = await response.json<{ key: string; id: string }>()
  const ask = (path: string, { method = 'GET', body, headers = {} }: Init = {}) =>
    request(path, {
      method,
      headers: {
        'x-session-api-key': key,
        ...(body !== undefined && !(body instanceof FormData) ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    })
  return { key, keyId: id, owner, ask, json: async (path, init) => (await ask(path, init)).json() }
}
