import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { AnalysisRunner } from '../../src/analysis/run.ts'
import { app } from '../../src/app.ts'
import { undeclared } from './declared.ts'

export const ROOT_KEY = 'root-key-for-tests-0123456789abcdef'

type Vars = Record<string, string>

/** Asks the whole app, with variables changed for this one request. */
export async function request(path: string, init: RequestInit = {}, vars: Vars = {}): Promise<Response> {
  const ctx = createExecutionContext()
  const url = path.startsWith('http') ? path : `http://bellwether.test${path}`
  const scope = Object.keys(vars).length === 0 ? env : changed({ ...env, ...vars }, ctx)
  const asked = new Request(url, init)
  const response = await app.fetch(asked, scope, ctx)
  // What a binding of the test's own does to an answer is nothing that the document promises.
  const isWhole = Object.values<unknown>(vars).every((value) => typeof value === 'string')
  if (response.status !== 101 && isWhole) {
    const faults = await undeclared(asked, response)
    if (faults.length > 0) throw new Error(`not as the document has it: ${faults.join('\n')}`)
  }
  // A stream goes on after its headers; waiting for it would wait for ever.
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') && response.status !== 101) {
    await waitOnExecutionContext(ctx)
  }
  return response
}

/** The variables count for the analysis that a request waits for, too. */
function changed(scope: Env, ctx: ExecutionContext): Env {
  return { ...scope, ANALYSIS_RUNNER: new AnalysisRunner(ctx, scope) as unknown as Env['ANALYSIS_RUNNER'] }
}

type Init = { method?: string; body?: unknown; headers?: Record<string, string> }
export type Client = {
  key: string
  keyId: string
  owner: string
  /** Asks with this client's key; `body` is sent as JSON unless it is a FormData. */
  ask(path: string, init?: Init): Promise<Response>
  json<T = Record<string, unknown>>(path: string, init?: Init): Promise<T>
}

let count = 0

/** A client with a key of its own, for an owner that no other test knows. */
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
