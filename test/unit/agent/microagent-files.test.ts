import { expect, test } from 'vitest'
import { builtinMicroagents, readMicroagents } from '../../../src/agent/context/knowledge.ts'
import { OWN_DIRECTORY, REFERENCE_DIRECTORY } from '../../../src/agent/microagents.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'

const OWN = `/workspace/${OWN_DIRECTORY}/microagents`
const THEIRS = `/workspace/${REFERENCE_DIRECTORY}/microagents`
const builtins = builtinMicroagents().map(({ name }) => name)

async function tree(files: Record<string, string | Uint8Array>): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem()
  for (const [path, content] of Object.entries(files)) {
    fs.makeDirectory(path.slice(0, path.lastIndexOf('/')), { recursive: true })
    await fs.write(path, typeof content === 'string' ? new TextEncoder().encode(content) : content)
  }
  return fs
}

async function read(files: Record<string, string | Uint8Array>, roots = ['/workspace']) {
  const { microagents, remarks } = await readMicroagents(await tree(files), roots)
  const own = microagents.filter(({ name }) => !builtins.includes(name))
  return { own, remarks, contents: Object.fromEntries(own.map(({ name, content }) => [name, content])) }
}

test('an empty workspace has the built-in microagents and nothing to remark', async () => {
  const { microagents, remarks } = await readMicroagents(await tree({}), ['/workspace'])
  expect(microagents).toEqual(builtinMicroagents())
  expect(remarks).toEqual([])
  expect((await readMicroagents(await tree({}), [])).microagents).toEqual(builtinMicroagents())
})

test('both directories are read to the bottom, READMEs and other files left out, and ours wins on equal names', async () => {
  const { contents, remarks } = await read({
    [`${OWN}/repo.md`]: 'ours',
    [`${OWN}/README.md`]: 'no',
    [`${OWN}/notes.txt`]: 'no',
    [`${OWN}/a/b/deep.md`]: 'deep',
    [`${OWN}/a/README.md`]: 'no',
    [`${THEIRS}/repo.md`]: 'theirs',
    [`${THEIRS}/other.md`]: 'other',
    '/workspace/microagents/stray.md': 'no',
  })
  expect(contents).toEqual({ other: 'other', repo: 'ours', 'a/b/deep': 'deep' })
  expect(remarks).toEqual([])
})

test('a file of the workspace takes the place of a built-in microagent of its name', async () => {
  const name = 'git-hosts'
  const { microagents } = await readMicroagents(await tree({ [`${OWN}/${name}.md`]: 'ours' }), ['/workspace'])
  expect(microagents.filter((microagent) => microagent.name === name)).toMatchObject([
    { kind: 'repo', content: 'ours' },
  ])
  expect(microagents).toHaveLength(builtins.length)
})

test('instruction files of other formats always hold, as they are', async () => {
  const front = '---\ntriggers: [x]\n---\nlegacy'
  const { own } = await read({
    [`/workspace/${REFERENCE_DIRECTORY}_instructions`]: front,
    '/workspace/.cursorrules': 'rules\n',
  })
  expect(own).toMatchObject([
    { name: 'repo_legacy', kind: 'repo', content: front, triggers: [] },
    { name: 'cursorrules', kind: 'repo', content: 'rules', triggers: [] },
  ])
})

test('rule files of other agents are read where they lie, and a link that leads out of the workspace is not', async () => {
  const fs = await tree({
    '/workspace/AGENTS.md': 'for agents\n',
    '/workspace/CLAUDE.md': 'for claude',
    '/workspace/.github/copilot-instructions.md': 'for copilot',
    '/workspace/docs/AGENTS.md': 'elsewhere',
    '/home/user/notes.md': 'private',
  })
  fs.symlink('/home/user/notes.md', '/workspace/GEMINI.md')
  const { microagents, remarks } = await readMicroagents(fs, ['/workspace'])
  const own = microagents.filter(({ name }) => !builtins.includes(name))
  expect(own.map(({ kind, content }) => [kind, content]).sort()).toEqual([
    ['repo', 'for agents'],
    ['repo', 'for claude'],
    ['repo', 'for copilot'],
  ])
  expect(remarks.map(({ path }) => path)).toEqual(['/workspace/GEMINI.md'])
})

test('with a repository its own files are read, and the instruction file of the workspace comes before that of the repository', async () => {
  const files = {
    '/workspace/.cursorrules': 'no',
    [`${OWN}/repo.md`]: 'no',
    [`/workspace/shop/${OWN_DIRECTORY}/microagents/repo.md`]: 'shop',
    '/workspace/shop/.cursorrules': 'shop rules',
    [`/workspace/shop/${REFERENCE_DIRECTORY}_instructions`]: 'shop legacy',
  }
  const roots = ['/workspace', '/workspace/shop']
  expect((await read(files, roots)).contents).toEqual({
    repo_legacy: 'shop legacy',
    cursorrules: 'shop rules',
    repo: 'shop',
  })
  const both = { ...files, [`/workspace/${REFERENCE_DIRECTORY}_instructions`]: 'workspace legacy' }
  expect((await read(both, roots)).contents.repo_legacy).toBe('workspace legacy')
})

test('a file that cannot be read costs only itself and is told with its reason', async () => {
  const fs = await tree({
    [`${OWN}/good.md`]: 'good',
    [`${OWN}/bad.md`]: '---\ntype: wizard\n---\n',
    [`${OWN}/binary.md`]: new Uint8Array([0xff, 0xfe, 0x00]),
    [`${OWN}/huge.md`]: 'x'.repeat(300_000),
    [`${OWN}/tools.md`]: '---\nmcp_tools: {sse_servers: [a]}\n---\nkept',
    [`${OWN}/d/1/2/3/4/5/6/7/8/too-deep.md`]: 'no',
    '/home/user/secret.md': 'secret',
    '/workspace/inside.txt': 'inside',
  })
  fs.symlink('/home/user/secret.md', `${OWN}/stolen.md`)
  fs.symlink('/workspace/inside.txt', `${OWN}/linked.md`)
  fs.symlink('nowhere', `${OWN}/dangling.md`)
  fs.symlink('.', `${OWN}/round`)
  fs.makeDirectory(`${OWN}/folder.md`)
  const { microagents, remarks } = await readMicroagents(fs, ['/workspace'])
  const own = microagents.filter(({ name }) => !builtins.includes(name))
  expect(Object.fromEntries(own.map(({ name, content }) => [name, content]))).toEqual({
    good: 'good',
    linked: 'inside',
    tools: 'kept',
  })
  expect(remarks.map(({ path, reason }) => `${path.slice(OWN.length + 1)} ${reason}`).sort()).toEqual([
    expect.stringMatching(/^bad\.md Front matter: type: /),
    'binary.md Not UTF-8',
    'd/1/2/3/4/5/6/7/ Too deep',
    expect.stringMatching(/^dangling\.md ENOENT/),
    'huge.md Larger than 262144 bytes',
    'stolen.md Not a file of the workspace',
    'tools.md mcp_tools.sse_servers is ignored',
  ])
})

test('a directory that leads out of the workspace is not read, and of very many files only the first are', async () => {
  const fs = await tree({ '/home/user/microagents/stolen.md': 'stolen' })
  fs.makeDirectory(`/workspace/${OWN_DIRECTORY}`)
  fs.symlink('/home/user/microagents', OWN)
  expect((await readMicroagents(fs, ['/workspace'])).microagents).toEqual(builtinMicroagents())
  const many = Object.fromEntries(
    Array.from({ length: 230 }, (_, i) => [`${OWN}/${String(i).padStart(3, '0')}.md`, 'x']),
  )
  const { own, remarks } = await read(many)
  expect([own.length, own.at(-1)?.name]).toEqual([200, '199'])
  expect(remarks).toEqual([{ path: OWN, reason: 'Only the first 200 files are read' }])
})
