import { expect, test } from 'vitest'
import { listFiles } from '../../../src/workspace/reading.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'
import { bytes } from './open-store.ts'

async function tree(files: Record<string, string>): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem()
  for (const [path, content] of Object.entries(files)) {
    fs.makeDirectory(`/workspace/${path}`.replace(/\/[^/]*$/, ''), { recursive: true })
    if (!path.endsWith('/')) await fs.write(`/workspace/${path}`, bytes(content))
  }
  return fs
}

test('a folder is listed one level deep, directories first, each group by its letters whatever their case', async () => {
  const fs = await tree({
    'b.txt': '',
    'A.txt': '',
    'Zoo/x': '',
    'apple/y': '',
    '.hidden': '',
    '.config/z': '',
    'a.txt': '',
  })
  expect(await listFiles(fs, null)).toEqual(['.config/', 'apple/', 'Zoo/', '.hidden', 'A.txt', 'a.txt', 'b.txt'])
})

test('each entry has the path in front as it was asked for', async () => {
  const fs = await tree({ 'repo/.bellwether/microagents/one.md': '', 'repo/.bellwether/microagents/two/x': '' })
  const asked = 'repo/.bellwether/microagents'
  expect(await listFiles(fs, asked)).toEqual([`${asked}/two/`, `${asked}/one.md`])
  expect(await listFiles(fs, `${asked}/`)).toEqual([`${asked}/two/`, `${asked}/one.md`])
  expect(await listFiles(fs, `/workspace/${asked}`)).toEqual([`/workspace/${asked}/two/`, `/workspace/${asked}/one.md`])
  expect(await listFiles(fs, './repo')).toEqual(['./repo/.bellwether/'])
  expect(await listFiles(fs, '')).toEqual(['repo/'])
})

test('what is not a directory of the workspace has no entries', async () => {
  const fs = await tree({ 'a.txt': 'x', 'in/b': '' })
  fs.symlink('/tmp', '/workspace/out')
  fs.symlink('in', '/workspace/alias')
  fs.symlink('self', '/workspace/self')
  await fs.write('/tmp/secret', bytes('x'))
  for (const path of [
    'none',
    'a.txt',
    'a.txt/x',
    'out',
    '/tmp',
    '..',
    '../tmp',
    '/',
    'a\0',
    'a'.repeat(5000),
    'self',
  ]) {
    expect(await listFiles(fs, path), path).toEqual([])
  }
  expect(await listFiles(fs, 'alias')).toEqual(['alias/b'])
  expect(await listFiles(fs, null)).toEqual(['alias/', 'in/', 'a.txt', 'out', 'self'])
})

test('internal folders and files are left out at every level, and only as what they are', async () => {
  const internal = ['.git/', 'node_modules/', '__pycache__/', 'lost+found/', '.vscode/', '.DS_Store']
  const files = Object.fromEntries(internal.flatMap((name) => [`${name}`, `repo/${name}`]).map((name) => [name, '']))
  const fs = await tree({
    ...files,
    'repo/kept': '',
    'other/node_modules': 'a file of that name',
    'other/.DS_Store/': '',
  })
  expect(await listFiles(fs, null)).toEqual(['other/', 'repo/'])
  expect(await listFiles(fs, 'repo')).toEqual(['repo/kept'])
  expect(await listFiles(fs, 'other')).toEqual(['other/.DS_Store/', 'other/node_modules'])
})

test('.gitignore rules hold below the folder they stand in, and the nearest one decides', async () => {
  const fs = await tree({
    '.gitignore': '*.log\n/dist/\nsecret.*\n!secret.keep\n# a comment\n\nbuild/\nCase.txt\n',
    'a.log': '',
    'case.txt': '',
    'secret.txt': '',
    'secret.keep': '',
    'dist/x': '',
    build: 'a file is no build/ folder',
    'pkg/.gitignore': '!*.log\nlocal\n',
    'pkg/b.log': '',
    'pkg/local': '',
    'pkg/dist/y': '',
    'pkg/build/z': '',
    'pkg/deep/c.log': '',
    'pkg/deep/local': '',
    'pkg/deep/d': '',
  })
  expect(await listFiles(fs, null)).toEqual(['pkg/', '.gitignore', 'build', 'case.txt', 'secret.keep'])
  expect(await listFiles(fs, 'pkg')).toEqual(['pkg/deep/', 'pkg/dist/', 'pkg/.gitignore', 'pkg/b.log'])
  expect(await listFiles(fs, 'pkg/deep')).toEqual(['pkg/deep/c.log', 'pkg/deep/d'])
  expect(await listFiles(fs, 'dist')).toEqual([])
})

test('rules that cannot be read or would take for ever filter nothing', async () => {
  const name = 'a'.repeat(250)
  const stars = `${'*a'.repeat(60)}b\n${'**/a'.repeat(300)}\n${'**/a/'.repeat(7)}b\n${'**/a/'.repeat(3)}b\n`
  const hostile = `${stars}[\n\\\n${'('.repeat(100)}\n*.tmp\n`
  const fs = await tree({ '.gitignore': hostile, [name]: '', 'x.tmp': '', 'sub/.gitignore/': '', 'sub/kept': '' })
  expect(await listFiles(fs, null)).toEqual(['sub/', '.gitignore', name])
  expect(await listFiles(fs, 'sub')).toEqual(['sub/.gitignore/', 'sub/kept'])
  for (const depth of [400, 40]) {
    const folder = `sub${'/a'.repeat(depth)}`
    fs.makeDirectory(`/workspace/${folder}/z`, { recursive: true })
    expect(await listFiles(fs, folder)).toEqual(depth === 40 ? [`${folder}/a/`, `${folder}/z/`] : [`${folder}/z/`])
  }
})
