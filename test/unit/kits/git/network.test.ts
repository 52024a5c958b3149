// What a network can do to a clone: every fault ends it with its cause, and leaves nothing behind.

import { expect, test } from 'vitest'
import type { CloneOutcome } from '../../../../src/kits/git/git-command.ts'
import { cloneRepository, type GitRemotes } from '../../../../src/kits/git/index.ts'
import { hostRepository, hostUrl, LOOPBACK_REMOTES, repositoryUrl } from '../../../helpers/git-host.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

const REMOTES: GitRemotes = LOOPBACK_REMOTES

async function clone(url: string, remotes = REMOTES): Promise<{ outcome: CloneOutcome; left: string[] }> {
  const fs = new MemoryFileSystem()
  const outcome = await cloneRepository({ fs, url, directory: '/workspace/w', remotes })
  return { outcome, left: fs.list('/workspace').map(({ name }) => name) }
}

const failure = (reason: string, message: string) => ({
  outcome: { ok: false, reason, message: expect.stringContaining(message) },
  left: [],
})

test('what a host answers instead of a repository is told as its cause', async () => {
  for (const [status, reason, message] of [
    [401, 'authentication', 'could not read Username'],
    [403, 'authentication', 'error: 403'],
    [404, 'not-found', 'not found'],
    [410, 'unreachable', 'error: 410'],
    [429, 'unreachable', 'error: 429'],
    [500, 'unreachable', 'error: 500'],
    [503, 'unreachable', 'error: 503'],
    [200, 'not-found', 'is not a git server'],
  ] as const) {
    expect([status, await clone(`${hostUrl()}/status/${status}/a.git`)]).toEqual([status, failure(reason, message)])
  }
  const credentialFor = async () => ({ username: 'robin', password: 'wrong' })
  expect(await clone(`${hostUrl()}/git/private/x.git`, { ...REMOTES, credentialFor })).toEqual(
    failure('authentication', 'Authentication failed'),
  )
  expect(await clone('http://127.0.0.1:9/a.git')).toEqual(failure('unreachable', 'cannot be reached'))
})

test('a host that is slow is waited for; one that says nothing, or nothing more, is not', async () => {
  const folder = await hostRepository({ 'a.txt': 'one\n'.repeat(5000), 'b.txt': 'two\n' })
  const faulty = (fault: string) => repositoryUrl(folder).replace('/git/', `/faulty/${fault}/git/`)
  const hurried = { ...REMOTES, limits: { headersTimeoutMs: 300, totalTimeoutMs: 600 } }
  expect((await clone(faulty('slow'))).outcome).toMatchObject({ ok: true, branch: 'main' })
  expect(await clone(`${hostUrl()}/never`, hurried)).toEqual(failure('unreachable', 'took too long'))
  expect(await clone(`${hostUrl()}/drip`)).toEqual(failure('not-found', 'smart protocol'))
  expect(await clone(faulty('stall'), hurried)).toEqual(failure('unreachable', 'took too long'))
  expect(await clone(faulty('cut'))).toEqual(failure('unreachable', 'cannot be reached'))
  expect(await clone(`${hostUrl()}/cut`)).toEqual(failure('not-found', 'smart protocol'))
})

test('a redirect is followed to a public place alone, and not for ever', async () => {
  const folder = await hostRepository({ 'a.txt': 'one\n' })
  const moved = (to: string) => `${hostUrl()}/moved?to=${encodeURIComponent(to)}&was=`
  for (const to of [
    'http://169.254.169.254/latest',
    'http://10.0.0.1/x.git',
    'http://[::ffff:10.0.0.1]/x',
    'file:///etc',
  ]) {
    expect([to, await clone(moved(to))]).toEqual([to, failure('refused', 'The address is refused')])
  }
  expect(await clone(`${hostUrl()}/loop`)).toEqual(failure('refused', 'redirects too often'))
  expect((await clone(moved(repositoryUrl(folder)))).outcome).toMatchObject({ ok: true })
})

test('a pack that does not end is left at the limit, however little of it was announced', async () => {
  let sent = 0
  // As many whole frames of a pack as fit into 256 KiB.
  const frame = new Uint8Array(0x2000)
  frame.set(new TextEncoder().encode('2000\u0001'))
  const piece = new Uint8Array(256 * 1024)
  for (let at = 0; at < piece.byteLength; at += frame.byteLength) piece.set(frame, at)
  const endless = async (input: RequestInfo | URL, init?: RequestInit) => {
    if (init?.method !== 'POST') return fetch(input, init)
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += piece.byteLength
        controller.enqueue(piece)
      },
    })
    return new Response(body, { headers: { 'content-type': 'application/x-git-upload-pack-result' } })
  }
  const url = repositoryUrl(await hostRepository({ 'a.txt': 'one\n' }))
  const limits = { maxBytes: 4 * 1024 * 1024 }
  expect(await clone(url, { ...REMOTES, fetch: endless, limits })).toEqual(failure('too-large', 'larger than'))
  // Once for the whole history, and once for as little of it as can be.
  expect(sent).toBeLessThan(2 * (limits.maxBytes + 4 * piece.byteLength))
})
