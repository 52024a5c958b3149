// The tarball, installed in an empty folder without the repository around it, and run.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './support/runner-process.ts'
import { KEY, StandIn } from './support/stand-in.ts'

const RUNNER = join(import.meta.dirname, '..')
const PACKAGES = join(RUNNER, '..', 'node_modules')

test('the packed program runs in an empty folder with its dependencies alone', async () => {
  const folder = temporaryFolder()
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: RUNNER,
    encoding: 'utf8',
  })
  const [{ filename, files }] = JSON.parse(packed.slice(packed.search(/^\[/m)))
  expect(files.map(({ path }: { path: string }) => path).sort()).toEqual(['README.md', 'dist/main.js', 'package.json'])
  execFileSync('tar', ['xzf', join(folder, filename)], { cwd: folder })
  // What the registry would give: the packages that it names, as they are installed here.
  for (const name of ['ws', 'zod', '@lydell/node-pty', `@lydell/node-pty-${process.platform}-${process.arch}`]) {
    const place = join(folder, 'package', 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(join(PACKAGES, name), place)
  }
  const service = await StandIn.start()
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, `${KEY}\n`)
  const args = [
    'dist/main.js',
    '--url',
    service.url,
    '--key-file',
    keyFile,
    '--isolation',
    'none',
    '--workspaces',
    join(folder, 'w'),
    '--once',
  ]
  const child = spawn(process.execPath, args, { cwd: join(folder, 'package'), stdio: 'ignore' })
  const ended = once(child, 'close')
  try {
    const session = await service.open('c1')
    await session.push()
    expect((await session.run('echo packed')).output).toBe('packed\n')
    await service.pool?.call('conversation/close', { conversation: 'c1', erase: true })
    expect(await ended).toEqual([0, null])
  } finally {
    child.kill('SIGKILL')
    await service.stop()
  }
})
