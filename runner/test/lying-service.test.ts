// A service that lies: nothing outside the conversation's folder is touched, and nothing grows without bound.

import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startRunner, temporaryFolder } from './support/runner-process.ts'
import { encode } from './support/stand-in-tree.ts'

const FILE = { kind: 'file', mode: 0o644, mtime: 0, size: 1, offset: 0, length: 1 }
const x = [Buffer.from('x')]
type UploadFrame = { entries: unknown[]; bytes?: Buffer[]; seq?: number; transfer?: number }

const LIES: readonly (readonly [string, UploadFrame | Buffer | string])[] = [
  ['a path with ..', { entries: [{ ...FILE, path: '../escaped' }], bytes: x }],
  ['a path with .. within', { entries: [{ ...FILE, path: 'a/../../escaped' }], bytes: x }],
  ['an absolute path', { entries: [{ ...FILE, path: '/tmp/escaped' }], bytes: x }],
  ['an empty name', { entries: [{ ...FILE, path: 'a//b' }], bytes: x }],
  ['a name with a zero', { entries: [{ ...FILE, path: 'a\0b' }], bytes: x }],
  ['a path that is too long', { entries: [{ ...FILE, path: `${'a/'.repeat(3000)}a` }], bytes: x }],
  ['a path that is too deep', { entries: [{ ...FILE, path: `${'a/'.repeat(400)}a` }], bytes: x }],
  ['permissions beyond nine bits', { entries: [{ ...FILE, path: 'a', mode: 0o4755 }], bytes: x }],
  ['a file without a size', { entries: [{ path: 'a', kind: 'file' }] }],
  ['a size of less than its piece', { entries: [{ ...FILE, path: 'a', size: 0 }], bytes: x }],
  ['a negative size', { entries: [{ ...FILE, path: 'a', size: -1 }], bytes: x }],
  ['fewer bytes than said', { entries: [{ ...FILE, path: 'a', size: 9, length: 9 }], bytes: x }],
  ['more bytes than said', { entries: [{ ...FILE, path: 'a' }], bytes: [Buffer.from('xyz')] }],
  ['a piece from the middle', { entries: [{ ...FILE, path: 'a', size: 9, offset: 5 }], bytes: x }],
  ['a file larger than a workspace', { entries: [{ ...FILE, path: 'a', size: 10 ** 12 }], bytes: x }],
  [
    'pieces of two files',
    {
      entries: [
        { ...FILE, path: 'a', size: 2 },
        { ...FILE, path: 'b', size: 2, offset: 1 },
      ],
      bytes: [Buffer.from('xy')],
    },
  ],
  ['a link without a target', { entries: [{ path: 'a', kind: 'symlink', target: '' }] }],
  ['a link with a zero', { entries: [{ path: 'a', kind: 'symlink', target: 'a\0b' }] }],
  ['a kind that is none', { entries: [{ path: 'a', kind: 'device' }] }],
  ['a frame out of order', { entries: [{ ...FILE, path: 'a' }], bytes: x, seq: 5 }],
  ['a frame of another transfer', { entries: [{ ...FILE, path: 'a' }], bytes: x, transfer: 99 }],
  ['a frame that is no frame', Buffer.from('nonsense')],
  ['a head longer than its frame', Buffer.from([0x7f, 0xff, 0xff, 0xff, 1])],
  ['a frame of two megabytes', Buffer.alloc(2 * 1024 * 1024)],
  ['output from the service', encode({ t: 'output', key: 'k', seq: 0 }, x)],
  ['a text that is no JSON', '{'],
  ['a text that is no message', '[]'],
  ['a text of two megabytes', JSON.stringify({ jsonrpc: '2.0', method: 'x', params: 'y'.repeat(2_000_000) })],
]

test('frames and messages that no honest service sends end the connection, and the runner comes back', async () => {
  const { service, folder, runner } = await startRunner()
  const session = await service.open('c1')
  for (const [name, lie] of LIES) {
    await session.ready()
    const rpc = session.rpc
    const hellos = session.hellos.length
    if (rpc === null) throw new Error('not connected')
    if (typeof lie === 'string' || Buffer.isBuffer(lie)) rpc.socket.send(lie)
    else {
      await rpc.call('transfer/begin', { transfer: 1, epoch: 'e', base: null, revision: 1 })
      const { entries, bytes = [], seq = 0, transfer = 1 } = lie
      rpc.socket.send(encode({ t: 'files', transfer, seq, entries }, bytes))
    }
    const { code } = await rpc.closed
    expect({ name, isRefused: code === 1008 || code === 1009 || code === 1006 }).toEqual({ name, isRefused: true })
    await session.until(() => session.hellos.length > hellos)
  }
  expect(readdirSync(join(folder, 'c1', 'workspace'))).toEqual([])
  expect(
    existsSync(join(folder, 'c1', 'escaped')) || existsSync(join(folder, 'escaped')) || existsSync('/tmp/escaped'),
  ).toBe(false)
  await session.push()
  expect((await session.run('echo fine')).output).toBe('fine\n')
  expect(runner.log).not.toContain('runner.failed')
})

test('requests that are no good are answered with an error: unknown methods, ids that are paths, other hosts, wrong counts', async () => {
  const { service, folder } = await startRunner(['--isolation', 'none', '--capacity', '1'])
  await service.runner()
  const open = (params: object) =>
    service.pool?.call('conversation/open', { conversation: 'c9', path: '/x', ticket: 't', ...params })
  const close = (conversation: string) => service.pool?.call('conversation/close', { conversation, erase: true })
  await expect(service.pool?.call('runner/format_disk', {})).rejects.toMatchObject({ code: -32601 })
  await expect(service.pool?.call('toString', {})).rejects.toMatchObject({ code: -32601 })
  await expect(open({ conversation: '../c1' })).rejects.toMatchObject({ code: -32602 })
  await expect(open({ conversation: '..' })).rejects.toMatchObject({ code: -32602 })
  await expect(open({ path: '//evil.test/x' })).rejects.toMatchObject({ code: -32602 })
  await expect(open({ path: 'http://evil.test/x' })).rejects.toMatchObject({ code: -32602 })
  await expect(open({ ticket: 'a\r\nX-Y: z' })).rejects.toMatchObject({ code: -32602 })
  await expect(close('../..')).rejects.toMatchObject({ code: -32602 })
  await expect(close('.')).rejects.toMatchObject({ code: -32602 })
  mkdirSync(join(folder, 'held'))
  await close('held')
  expect(existsSync(join(folder, 'held'))).toBe(false)
  const session = await service.open('c1')
  await expect(service.open('c2')).rejects.toMatchObject({ code: -32002 })
  await session.rpc?.call('transfer/begin', { transfer: 1, epoch: 'e', base: null, revision: 1 })
  await expect(session.rpc?.call('transfer/commit', { transfer: 1, frames: 3, entries: 0 })).rejects.toMatchObject({
    code: -32602,
  })
  await expect(session.rpc?.call('call/start', { key: '../x' })).rejects.toMatchObject({ code: -32602 })
  await expect(session.start('true')).rejects.toMatchObject({ code: -32004 })
  await close('c1')
  expect(existsSync(join(folder, 'c1'))).toBe(false)
})

test('nothing is written or read through a link of the workspace, whichever side made it', async () => {
  const outside = temporaryFolder()
  writeFileSync(join(outside, 'victim'), 'untouched')
  const { service, folder } = await startRunner()
  const root = join(folder, 'c1', 'workspace')
  mkdirSync(root, { recursive: true })
  for (const name of ['dir', 'deep', 'top']) symlinkSync(outside, join(root, name))
  symlinkSync(join(outside, 'victim'), join(root, 'victim'))
  const session = await service.open('c1')
  session.tree.set('link', { kind: 'symlink', target: outside })
  session.tree.write('dir/victim', 'through a folder')
  session.tree.write('deep/a/b/victim', 'through a folder above')
  session.tree.write('victim', 'through the file')
  await session.push()
  const base = session.tree.revision
  session.tree.set('link/victim', { kind: 'directory', mode: 0o777 })
  session.tree.write('link/new', 'through the link of the service')
  session.tree.set('link/victim/x', null)
  await session.push(base)
  expect(readFileSync(join(outside, 'victim'), 'utf8')).toBe('untouched')
  expect(readdirSync(outside)).toEqual(['victim'])
  expect(lstatSync(join(root, 'link')).isDirectory()).toBe(true)
  const { tree } = await session.run(`rm -rf link dir; ln -s ${outside} dir; ln -s ${outside}/victim leak`)
  expect(tree.get('dir')).toEqual({ kind: 'symlink', target: outside })
  expect(tree.get('leak')).toEqual({ kind: 'symlink', target: `${outside}/victim` })
  expect([...tree.keys()].filter((path) => path.startsWith('dir/'))).toEqual([])
})
