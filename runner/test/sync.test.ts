import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startRunner } from './support/runner-process.ts'

test('the tree goes down exactly: bytes, permissions, times, links, folders; what is not named goes, but excluded names stay', async () => {
  const { service, folder } = await startRunner()
  const root = join(folder, 'c1', 'workspace')
  mkdirSync(join(root, 'old', 'node_modules'), { recursive: true })
  mkdirSync(join(root, 'src', 'node_modules'), { recursive: true })
  writeFileSync(join(root, 'src', 'node_modules', 'kept.js'), '1')
  writeFileSync(join(root, 'stale.txt'), 'stale')
  const session = await service.open('c1')
  session.tree.write('src/a.sh', '#!/bin/sh\necho a\n', 0o755)
  session.tree.write('private', 'p', 0o600)
  session.tree.write('empty', '')
  session.tree.set('link', { kind: 'symlink', target: '../outside/\u00e4' })
  session.tree.set('ro', { kind: 'directory', mode: 0o555 })
  session.tree.write('ro/inside', 'x', 0o444)
  session.tree.write('big.bin', Buffer.alloc(3_000_000, 7))
  await session.push()
  expect(readFileSync(join(root, 'src/a.sh'), 'utf8')).toContain('echo a')
  expect(lstatSync(join(root, 'src/a.sh')).mode & 0o777).toBe(0o755)
  expect(lstatSync(join(root, 'src/a.sh')).mtimeMs).toBe(1_700_000_000_000)
  expect(lstatSync(join(root, 'private')).mode & 0o777).toBe(0o600)
  expect(lstatSync(join(root, 'ro')).mode & 0o777).toBe(0o555)
  expect(readlinkSync(join(root, 'link'))).toBe('../outside/\u00e4')
  expect(readFileSync(join(root, 'big.bin')).equals(Buffer.alloc(3_000_000, 7))).toBe(true)
  expect(existsSync(join(root, 'stale.txt'))).toBe(false)
  expect(existsSync(join(root, 'old'))).toBe(false)
  expect(existsSync(join(root, 'src/node_modules/kept.js'))).toBe(true)
  const untouched = await session.run('touch src/a.sh; cat private')
  expect(untouched.output).toBe('p')
  expect(session.tree.revision).toBe(7)
})

test('what a command changes is there with its outcome, and nothing else is sent', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  for (const name of ['a', 'b', 'c', 'd/e', 'd/f']) session.tree.write(name, name)
  session.tree.set('l', { kind: 'symlink', target: 'a' })
  await session.push()
  const revision = session.tree.revision
  const { tree, outcome } = await session.run(
    'rm a; echo new > b; chmod 700 c; rm -r d; echo file > d; ln -sf b l; mkdir -p x/y; echo deep > x/y/z; mkdir node_modules; echo no > node_modules/m; head -c 5000000 /dev/zero > large',
  )
  expect(outcome.remarks).toEqual([])
  expect([...tree.keys()].sort()).toEqual(['b', 'c', 'd', 'l', 'large', 'x', 'x/y', 'x/y/z'])
  expect(session.tree.text('b')).toBe('new\n')
  expect(tree.get('c')).toMatchObject({ mode: 0o700 })
  expect(session.tree.text('d')).toBe('file\n')
  expect(tree.get('l')).toEqual({ kind: 'symlink', target: 'b' })
  const large = tree.get('large')
  expect(large?.kind === 'file' && large.bytes.equals(Buffer.alloc(5_000_000))).toBe(true)
  expect(session.tree.revision).toBe(revision + 1)
  await session.run('true')
  expect(session.tree.revision).toBe(revision + 1)
})

test('pipes, sockets, names that are no text, files that are too large: named once, and the rest is sent', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1', undefined)
  await session.push()
  const { tree, outcome } = await session.run(
    String.raw`mkfifo pipe; printf x > "$(printf 'bad\377name')"; truncate -s 30000000 huge; echo ok > fine`,
  )
  expect([...tree.keys()]).toEqual(['fine'])
  expect(outcome.remarks.sort()).toEqual([
    expect.stringMatching(/^bad.name has a name that is no UTF-8/),
    expect.stringMatching(/^huge \(30000000 bytes\) stays on the runner/),
    expect.stringMatching(/^pipe is a pipe/),
  ])
  expect((await session.run('true')).outcome.remarks).toEqual([])
})

test('changes go up while a command runs, and of what it leaves in the background', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  const { key } = await session.start('echo 1 > one; read -r _; echo 3 > three')
  await session.until(() => session.tree.text('one') === '1\n')
  expect((await session.run('go', { kind: 'input' })).outcome.state).toBe('ended')
  expect((await session.ended(key)).outcome.state).toBe('soft')
  await session.run('(while [ ! -e go ]; do sleep 0.05; done; echo 2 > two) > /dev/null 2>&1 & disown')
  session.tree.write('go', '')
  await session.push(session.tree.revision - 1)
  await session.until(() => session.tree.text('two') === '2\n')
})

test('a delta changes what it names; a file that a program changed meanwhile is kept and goes up', async () => {
  const { service, folder } = await startRunner()
  const root = join(folder, 'c1', 'workspace')
  const session = await service.open('c1')
  session.tree.write('mine', 'v0')
  session.tree.write('yours', 'v0')
  session.tree.write('gone', 'v0')
  session.tree.write('swap/inner', 'v0')
  await session.push()
  const base = session.tree.revision
  session.tree.write('yours', 'v1')
  session.tree.write('mine', 'v1')
  session.tree.set('gone', null)
  session.tree.set('swap/inner', null)
  session.tree.write('swap', 'now a file')
  writeFileSync(join(root, 'mine'), 'changed here')
  await session.push(base)
  expect(readFileSync(join(root, 'yours'), 'utf8')).toBe('v1')
  expect(readFileSync(join(root, 'mine'), 'utf8')).toBe('changed here')
  expect(existsSync(join(root, 'gone'))).toBe(false)
  expect(readFileSync(join(root, 'swap'), 'utf8')).toBe('now a file')
  await session.run('true')
  expect(session.tree.text('mine')).toBe('changed here')
  await expect(session.push(base)).rejects.toThrow(/revision/)
  session.tree.write('newer', 'than the copy')
  await expect(session.start('true')).rejects.toThrow(/revision/)
  await session.push(session.tree.revision - 1)
  expect((await session.run('cat mine')).output).toBe('changed here')
})
