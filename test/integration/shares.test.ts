// Links by which a conversation is read without a key, and everything that they must not open.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { client, request } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'

type ShareLink = { share_id: string; token: string; path: string; expires_at: string }
type Page = { events: Record<string, unknown>[]; has_more: boolean }

const asked = (path: string, token: string, init: RequestInit = {}) =>
  request(path, { ...init, headers: { 'x-share-token': token, ...init.headers } })

async function shared(body: object = {}) {
  const chat = await startConversation()
  const run = async (command: string) => {
    const before = (await chat.events('?limit=1&reverse=true'))[0]?.id ?? -1
    await chat.post('run', { command })
    await expect
      .poll(async () =>
        (await chat.events(`?limit=100&start_id=${before + 1}`)).some(({ observation }) => observation === 'run'),
      )
      .toBe(true)
  }
  const share = (more: object = {}) =>
    chat.owner.json<ShareLink>(`${chat.path}/shares`, { method: 'POST', body: { ...body, ...more } })
  return { chat, run, share }
}

test('a link shows what was said and done, without a key, and neither files nor what is hidden unless it was made so', async () => {
  const { chat, run, share } = await shared()
  await run('echo visible > a.txt; cat a.txt')
  await chat.post('run', { command: 'echo unseen', hidden: true })
  await expect.poll(async () => JSON.stringify(await chat.events('?limit=100'))).toContain('unseen')
  const plain = await share()
  expect(plain.token).toMatch(/^bwl_[\w-]{43}$/)
  expect(plain.path).toBe(`/shared#${plain.token}`)
  const about = await (await asked('/api/shared', plain.token)).json()
  expect(about).toMatchObject({ with_files: false, with_hidden: false, expires_at: plain.expires_at })
  const page = await (await asked('/api/shared/events?limit=100', plain.token)).json<Page>()
  const text = JSON.stringify(page)
  expect(text).toContain('echo visible > a.txt; cat a.txt')
  expect(text).not.toContain('unseen')
  for (const event of page.events) {
    expect(Object.keys(event)).not.toContain('llm_metrics')
    expect(event.action).not.toBe('system')
  }
  expect((await asked('/api/shared/files', plain.token)).status).toBe(403)
  expect((await asked('/api/shared/files?file=a.txt', plain.token)).status).toBe(403)

  const whole = await share({ with_files: true, with_hidden: true })
  expect(await (await asked('/api/shared/files', whole.token)).json()).toEqual({ names: ['a.txt'], text: null })
  expect(await (await asked('/api/shared/files?file=a.txt', whole.token)).json()).toEqual({
    names: null,
    text: 'visible\n',
  })
  expect((await asked('/api/shared/files?file=none', whole.token)).status).toBe(404)
  expect((await asked('/api/shared/files?file=../../etc/passwd', whole.token)).status).toBe(422)
  expect(JSON.stringify(await (await asked('/api/shared/events?limit=100', whole.token)).json())).toContain('unseen')
  const listed = await chat.owner.json<{ shares: object[] }>(`${chat.path}/shares`)
  expect(listed.shares).toHaveLength(2)
  // The database has no token, nor anything that one could be made of.
  const rows = await env.DB.prepare('SELECT * FROM shares').all()
  for (const { token } of [plain, whole]) expect(JSON.stringify(rows.results)).not.toContain(token.slice(4))
})

test('a token that is guessed, cut, revoked, expired or of a conversation that is gone answers as one that never was', async () => {
  const { chat, share } = await shared()
  const { token, share_id: id } = await share()
  const nobody = await asked('/api/shared', `bwl_${'A'.repeat(43)}`)
  const flat = { status: 401, body: await nobody.text() }
  const answer = async (text: string, path = '/api/shared') => {
    const response = await asked(path, text)
    return { status: response.status, body: await response.text() }
  }
  const last = token.endsWith('A') ? 'B' : 'A'
  for (const guess of [
    token.slice(0, -1),
    `${token.slice(0, -1)}${last}`,
    token.toLowerCase(),
    token.slice(4),
    `${token}A`,
    id,
  ])
    expect([guess, await answer(guess)]).toEqual([guess, flat])
  expect((await request('/api/shared')).status).toBe(401)
  // Only the header carries it.
  for (const path of [
    `/api/shared?session_api_key=${token}`,
    `/api/shared?token=${token}`,
    `/api/shared/events?x-share-token=${token}`,
  ])
    expect((await request(path)).status).toBe(401)

  const other = await share()
  await env.DB.prepare("UPDATE shares SET expires_at = '2020-01-01T00:00:00.000000Z' WHERE id = ?")
    .bind(other.share_id)
    .run()
  expect(await answer(other.token)).toEqual(flat)
  expect((await chat.owner.ask(`${chat.path}/shares/${other.share_id}`, { method: 'DELETE' })).status).toBe(404)

  // Another owner neither sees nor ends it.
  const stranger = await client()
  expect((await stranger.ask(`${chat.path}/shares/${id}`, { method: 'DELETE' })).status).toBe(404)
  expect((await stranger.ask(`${chat.path}/shares`)).status).toBe(404)
  expect((await stranger.ask(`${chat.path}/shares`, { method: 'POST', body: {} })).status).toBe(404)
  expect((await answer(token)).status).toBe(200)
  expect(await chat.owner.json(`${chat.path}/shares/${id}`, { method: 'DELETE' })).toBe(true)
  for (const path of ['/api/shared', '/api/shared/events', '/api/shared/files'])
    expect(await answer(token, path)).toEqual(flat)

  const third = await share()
  await chat.owner.json(chat.path, { method: 'DELETE' })
  expect(await answer(third.token)).toEqual(flat)
  // Whoever takes the id again does not open it to the old link.
  await startConversation({ conversation_id: chat.id }, chat.owner)
  expect(await answer(third.token)).toEqual(flat)
})

test('a token opens nothing else: no other path, no socket, no change, and a key opens no link', async () => {
  const { chat, share } = await shared()
  const { token } = await share()
  const headers: Record<string, string>[] = [
    { 'x-share-token': token },
    { 'x-session-api-key': token },
    { authorization: `Bearer ${token}` },
    { cookie: `bellwether_session=${token}` },
  ]
  const paths = [
    ...['', '/events', '/list-files', '/select-file?file=a', '/zip-directory', '/trajectory', '/shares', '/config'].map(
      (end) => `${chat.path}${end}`,
    ),
    ...['/api/conversations', '/api/settings', '/api/secrets', '/api/session', '/api/v1/history', '/api/keys'],
  ]
  for (const header of headers) {
    for (const path of paths) {
      expect([path, (await request(path, { headers: header })).status]).toEqual([path, 401])
    }
    for (const query of ['', `?session_api_key=${token}`]) {
      const socket = await request(`${chat.path}/ws${query}`, { headers: { ...header, upgrade: 'websocket' } })
      expect(socket.status).toBe(401)
    }
    expect((await request(`${chat.path}/events`, { method: 'POST', headers: header, body: '{}' })).status).toBe(401)
  }
  for (const path of ['/api/shared', '/api/shared/events', '/api/shared/files']) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect([method, path, (await asked(path, token, { method })).status]).toEqual([method, path, 405])
    }
    expect((await request(path, { headers: { 'x-session-api-key': chat.owner.key } })).status).toBe(401)
    expect((await asked(path, chat.owner.key)).status).toBe(401)
  }
})

test('what became a secret after it was said is masked in a link, in talk and files', async () => {
  const { chat, run, share } = await shared({ with_files: true })
  const secret = 'sk-later-4f9a"\\c1-became-one'
  await run(`printf '%s' '${secret}' > key.txt; cat key.txt`)
  const { token } = await share()
  const seen = async () =>
    (await (await asked('/api/shared/events?limit=100', token)).text()) +
    (await (await asked('/api/shared/files?file=key.txt', token)).text())
  expect(await seen()).toContain('later-4f9a')
  await chat.owner.ask('/api/secrets', { method: 'POST', body: { name: 'LATER', value: secret } })
  await expect.poll(seen).not.toContain('later-4f9a')
})

test('a conversation has a bounded number of links in force, and what is asked for has to make sense', async () => {
  const { chat, share } = await shared()
  for (const body of [{ expires_in_hours: 0 }, { expires_in_hours: 1e6 }, { with_files: 'maybe' }, { more: 1 }]) {
    expect((await chat.owner.ask(`${chat.path}/shares`, { method: 'POST', body })).status).toBe(422)
  }
  const made = await Promise.all(Array.from({ length: 20 }, () => share()))
  expect((await chat.owner.ask(`${chat.path}/shares`, { method: 'POST', body: {} })).status).toBe(400)
  await chat.owner.json(`${chat.path}/shares/${made[0]?.share_id}`, { method: 'DELETE' })
  expect((await share()).token).toMatch(/^bwl_/)
  const audit = await chat.owner.ask('/api/audit?limit=50')
  const text = await audit.text()
  if (audit.status === 200) expect(text).toContain('share.revoked')
  expect(text).not.toContain('bwl_')
})
