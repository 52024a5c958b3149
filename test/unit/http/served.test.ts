import { OpenAPIHono } from '@hono/zod-openapi'
import { expect, test } from 'vitest'
import { app } from '../../../src/app.ts'
import type { Admission, AppEnv } from '../../../src/http/app-env.ts'
import { admissionOf, serve } from '../../../src/http/router.ts'

/** What the requests demand, in an app that has these paths. */
async function demandedOf(requests: readonly (readonly [method: string, path: string])[]) {
  const small = new OpenAPIHono<AppEnv>()
  const demanded: unknown[] = []
  small.use(async (c, next) => {
    const { scope, limit, bodyLimit } = admissionOf(c)
    demanded.push([c.req.raw.method, c.req.path, scope, limit, bodyLimit])
    await next()
  })
  const standard = { bodyLimit: 'standard' } as const
  const admin: Admission = { scope: 'admin', limit: 'writes', ...standard }
  const answer = () => new Response('here')
  serve(small, { method: 'post', path: '/api/served/:id', ...admin }, answer)
  serve(
    small,
    { method: 'post', path: '/api/served/:id/upload.bin', ...admin, limit: 'uploads', bodyLimit: 'upload' },
    answer,
  )
  serve(small, { method: 'get', path: '/served-open', scope: 'open', limit: 'uncounted', ...standard }, answer)
  for (const [method, path] of requests) await small.request(path, { method })
  return demanded
}

test('a request is admitted as its endpoint declares it, however it is spelled', async () => {
  const requests = [
    ['POST', '/api/served/7'],
    ['POST', '/api/served/7/upload.bin'],
    ['HEAD', '/served-open'],
  ] as const
  expect(await demandedOf(requests)).toEqual([
    ['POST', '/api/served/7', 'admin', 'writes', 'standard'],
    ['POST', '/api/served/7/upload.bin', 'admin', 'uploads', 'upload'],
    ['HEAD', '/served-open', 'open', 'uncounted', 'standard'],
  ])
})

test('a wrong method demands what the path does, and a path that nobody serves a key of its family', async () => {
  const requests = [
    ['GET', '/api/served/7'],
    ['DELETE', '/api/served/7'],
    ['PUT', '/api/served/7/upload.bin'],
    ['PUT', '/served-open'],
    ['GET', '/api/served/7/uploadxbin'],
    ['POST', '/api/v1/nothing'],
    ['GET', '/mcp/'],
    ['GET', '/elsewhere'],
  ] as const
  expect(await demandedOf(requests)).toEqual([
    ['GET', '/api/served/7', 'admin', 'reads', 'standard'],
    ['DELETE', '/api/served/7', 'admin', 'writes', 'standard'],
    ['PUT', '/api/served/7/upload.bin', 'admin', 'writes', 'upload'],
    ['PUT', '/served-open', 'open', 'uncounted', 'standard'],
    ['GET', '/api/served/7/uploadxbin', 'conversations', 'reads', 'standard'],
    ['POST', '/api/v1/nothing', 'analysis', 'writes', 'standard'],
    ['GET', '/mcp/', 'conversations', 'reads', 'standard'],
    ['GET', '/elsewhere', 'open', 'uncounted', 'standard'],
  ])
})

test('a route that was added past the declarations answers nobody', async () => {
  const small = new OpenAPIHono<AppEnv>()
  small.use(async (c, next) => {
    admissionOf(c)
    await next()
  })
  small.onError((error, c) => c.text(error.message, 500))
  small.get('/forgotten', (c) => c.text('here'))
  const answer = await small.request('/forgotten')
  expect([answer.status, await answer.text()]).toEqual([500, 'missing: what a route demands'])
})

test('nothing that the service serves was added past the declarations', async () => {
  const routes = app.routes.filter(({ method }) => method !== 'ALL')
  expect(routes.length).toBeGreaterThan(100)
  const small = new OpenAPIHono<AppEnv>()
  const undeclared: string[] = []
  small.use(async (c) => {
    try {
      admissionOf(c)
    } catch {
      // Told by its name below.
      undeclared.push(`${c.req.raw.method} ${c.req.path}`)
    }
    return c.text('')
  })
  for (const { method, path } of routes) small.on(method, path, (c) => c.text(''))
  for (const { method, path } of routes) await small.request(path.replace(/:\w+(\{\.\+\})?/g, 'x'), { method })
  expect(undeclared).toEqual([])
})
