import { expect, test } from 'vitest'
import { builtinMicroagents } from '../../../src/agent/context/knowledge.ts'
import { type Microagent, matchMicroagents, parseMicroagent } from '../../../src/agent/microagents.ts'

const file = (front: string, body = 'Text.') => `---\n${front}\n---\n\n${body}\n`

function parsed(text: string, name: string | null = 'folder/note'): Microagent {
  const result = parseMicroagent(name, text)
  if (!result.ok) throw new Error(result.reason)
  return result.microagent
}

function refusal(front: string): string {
  const result = parseMicroagent('note', file(front))
  return result.ok ? `taken as ${JSON.stringify(result.microagent)}` : result.reason
}

test('a file without front matter always holds and has every default', () => {
  expect(parsed('\uFEFF\n# Title\r\n\r\nText.\n\n')).toEqual({
    name: 'folder/note',
    kind: 'repo',
    content: '# Title\n\nText.',
    triggers: [],
    inputs: [],
    tools: [],
    version: '1.0.0',
    agent: 'CodeActAgent',
  })
  expect(parsed('', null)).toMatchObject({ name: 'default', kind: 'repo', content: '' })
})

test('front matter stands between the first two fences; without a second one there is none', () => {
  expect(parsed('---\r\ntriggers: [a]\r\n---\r\nOne.\n\n---\n\nTwo.')).toMatchObject({
    kind: 'knowledge',
    content: 'One.\n\n---\n\nTwo.',
  })
  expect(parsed('---\ntriggers: [a]\nnever closed')).toMatchObject({
    kind: 'repo',
    content: '---\ntriggers: [a]\nnever closed',
  })
  expect(parsed('Text.\n\n---\nname: x\n---\n')).toMatchObject({ kind: 'repo', content: 'Text.\n\n---\nname: x\n---' })
  expect(parsed('---\n---\nText.')).toMatchObject({ kind: 'repo', content: 'Text.' })
  expect(parsed('---\n# only a comment\n---\nText.')).toMatchObject({ kind: 'repo', content: 'Text.' })
})

test('the file gives the shown name; the declared one is shown where there is no file', () => {
  expect(parsed(file('name: declared'), 'sub/file').name).toBe('sub/file')
  expect(parsed(file('name: declared'), null).name).toBe('declared')
})

test('inputs make a task, triggers make knowledge, and what the type says changes nothing', () => {
  const inputs = 'inputs:\n  - name: branch\n    description: Which one\n    extra: 1'
  expect(parsed(file('type: task')).kind).toBe('repo')
  expect(parsed(file('type: repo\ntriggers: [x]')).kind).toBe('knowledge')
  const task = parsed(file(`type: knowledge\nname: update\ntriggers: [x]\n${inputs}`))
  expect(task).toMatchObject({
    kind: 'task',
    triggers: ['x', '/update'],
    inputs: [{ name: 'branch', description: 'Which one' }],
  })
  expect(task.content).toMatch(/^Text\.\n\n.*ask for the missing ones/)
  expect(parsed(file(`name: update\ntriggers: [/update]\n${inputs}`)).triggers).toEqual(['/update'])
  expect(parsed(file(inputs), 'review').triggers).toEqual(['/review'])
  expect(parsed(file(inputs), null).triggers).toEqual(['/default'])
})

test('a version may be a number, an agent any name, and unknown or empty keys are ignored', () => {
  expect(parsed(file('version: 2.5\nagent: Other\ncolour: red\ntriggers:\nname:'))).toMatchObject({
    version: '2.5',
    agent: 'Other',
    kind: 'repo',
    name: 'folder/note',
  })
  expect(parsed(file('version: "3"')).version).toBe('3')
})

test('of the tool servers only those on stdio count, and the others are named in a warning', () => {
  const front = `mcp_tools:
  stdio_servers:
    - {name: fetch, command: uvx, args: [mcp-server-fetch], env: {A: b}}
    - {name: time, command: run}
  sse_servers: [{url: "https://example.com"}]
  shttp_servers: ["https://example.com"]`
  const result = parseMicroagent('tools', file(front))
  expect(result).toMatchObject({
    ok: true,
    microagent: { kind: 'repo', tools: ['fetch', 'time'] },
    warnings: ['mcp_tools.sse_servers is ignored', 'mcp_tools.shttp_servers is ignored'],
  })
})

test('front matter that is not what it should be is refused with the reason', () => {
  const bad: [front: string, reason: RegExp][] = [
    ['type: wizard', /^Front matter: type: /],
    ['name: [a]', /name/],
    ['name: "  "', /name: must not be blank/],
    ['agent: 5', /agent/],
    ['version: [1]', /version/],
    ['triggers: word', /triggers/],
    ['triggers: [5]', /triggers\.0/],
    ['triggers: [""]', /triggers\.0: must not be blank/],
    ['inputs: [branch]', /inputs\.0/],
    ['inputs: [{name: branch}]', /inputs\.0\.description/],
    ['mcp_tools: {servers: []}', /mcp_tools/],
    ['mcp_tools: {stdio_servers: [{name: x}]}', /mcp_tools\.stdio_servers\.0\.command/],
    ['- a\n- b', /not a list of keys and values/],
    ['just text', /not a list of keys and values/],
    ['a: b: c', /^Front matter: \S.*\S$/],
    ['name: x\nname: y', /unique/],
    ['a: "open', /^Front matter: /],
    [`x: ${'['.repeat(20_000)}`, /^Front matter: /],
    [`x: "${'y'.repeat(40_000)}"`, /too long/],
    [bomb(), /^Front matter: .*alias/i],
  ]
  for (const [front, reason] of bad) expect(refusal(front)).toMatch(reason)
})

/** Nine levels of nine references each: a few lines that stand for 387 million values. */
function bomb(): string {
  const lines = ['l0: &l0 [x,x,x,x,x,x,x,x,x]']
  for (let i = 1; i < 9; i++)
    lines.push(
      `l${i}: &l${i} [${Array(9)
        .fill(`*l${i - 1}`)
        .join(',')}]`,
    )
  return lines.join('\n')
}

test('keys that would reach into the prototype stay without effect', () => {
  const result = parseMicroagent('x', file('__proto__: {triggers: [evil]}\nconstructor: 1'))
  expect(result).toMatchObject({ ok: true, microagent: { kind: 'repo', triggers: [] } })
  expect(({} as Record<string, unknown>).triggers).toBe(undefined)
})

test('a trigger matches anywhere in the message whatever the case, and the first one of each microagent counts', () => {
  const all = [
    parsed(file('triggers: [Docker, container]', 'D'), 'docker'),
    parsed(file('triggers: [git]', 'G'), 'git'),
    parsed(file('triggers: [größe, 部署]', 'Z'), 'other'),
    parsed('always', 'repo'),
    parsed(file('name: deploy\ninputs: [{name: where, description: d}]', 'T'), 'tasks/deploy'),
  ]
  const matched = (message: string) => matchMicroagents(all, message).map(({ name, trigger }) => `${name}: ${trigger}`)
  expect(matchMicroagents(all, 'run a container in DOCKER')).toEqual([
    { name: 'docker', trigger: 'Docker', content: 'D' },
  ])
  expect(matched('a digital CONTAINER')).toEqual(['docker: container', 'git: git'])
  expect(matched('Bitte GRÖSSE, GRÖßE oder 重新部署')).toEqual(['other: größe'])
  expect(matched('please /Deploy now')).toEqual(['tasks/deploy: /deploy'])
  expect(matched('')).toEqual([])
})

test('the built-in microagents are well formed, distinct, and called up by what they are about', () => {
  const all = builtinMicroagents()
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
  expect(all.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    'git-hosts knowledge',
    'shell-limits knowledge',
    'review-changes task',
    'write-microagent task',
  ])
  expect(matchMicroagents(all, 'Open a pull request on GitHub').map(({ name }) => name)).toEqual(['git-hosts'])
  expect(matchMicroagents(all, '/review-changes please').map(({ name }) => name)).toEqual(['review-changes'])
  expect(matchMicroagents(all, 'Explain this file')).toEqual([])
  for (const { content } of all) expect(content.length).toBeGreaterThan(200)
})
