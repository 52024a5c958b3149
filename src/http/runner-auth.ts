// How a runner authenticates. Its key has the scope `runner`; in local mode, where other callers on the machine need no key,
// it shows the token from the state folder. A request with an Origin comes from a web page and is refused in every mode: no
// page may pose as a runner.

import { config } from '../config.ts'
import { constantTimeEqual } from '../lib/crypto.ts'
import { identifyAny } from './auth.ts'
import { AppError } from './errors.ts'
import { demandPatience, unauthorized, wrongKey } from './too-many.ts'

export type RunnerPrincipal = { owner: string; keyId: string | null }

/** Throws a 401 without a valid key or token, and a 403 for a web page and for a key of another scope. */
export async function identifyRunner(request: Request, env: Env): Promise<RunnerPrincipal> {
  await refusePages(request, env)
  const { authMode, runnerToken } = config(env)
  const { owner, keyId, scopes } = await identifyAny(request, env)
  if (authMode !== 'local') {
    if (!scopes.includes('runner')) throw new AppError('forbidden', 'This key lacks the scope "runner"')
    return { owner, keyId }
  }
  const shown = bearerOf(request)
  if (shown === null || runnerToken === null) throw unauthorized()
  demandPatience(env, request, shown)
  if (!constantTimeEqual(shown, runnerToken)) throw await wrongKey(env, request, shown)
  return { owner, keyId }
}

/** Throws the 403 for a request that a web page made, and in local mode for one that names a foreign host. */
export async function refusePages(request: Request, env: Env): Promise<void> {
  if (request.headers.has('origin')) throw new AppError('forbidden', 'Runners are no web pages: send no Origin')
  if (config(env).authMode === 'local') await identifyAny(request, env)
}

export function bearerOf(request: Request): string | null {
  return /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? null
}
