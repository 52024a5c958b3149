import { expect, test } from 'vitest'
import type { ActionEvent } from '../../../src/agent/events.ts'
import { ACTION_KINDS, actionKind, observedKind, TOOLS } from '../../../src/agent/tools/index.ts'
import { mcpTools } from '../../../src/agent/tools/mcp.ts'
import type { ToolAgent } from '../../../src/agent/tools/tool.ts'
import { CLOSED } from '../../helpers/policies.ts'
import { openToolSession } from './tool-session.ts'

/** Calls of every tool; of one that does several things, one for each. */
const CALLS: Readonly<Record<string, readonly object[]>> = {
  execute_bash: [{ command: 'ls' }],
  think: [{ thought: 'What if?' }],
  finish: [{ message: 'Done.' }],
  browse: [{ url: 'https://example.com/' }],
  browser: [
    { code: "goto('http://localhost:3000/')" },
    { code: "upload_file('e1', 'a.txt')" },
    { code: 'scroll(0, 100)' },
  ],
  execute_ipython_cell: [{ code: 'print(1)' }, { code: '', kernel: 'interrupt' }, { code: 'x = 1', kernel: 'restart' }],
  str_replace_editor: [
    { command: 'view', path: '/workspace/a.ts', view_range: [1, 2] },
    { command: 'create', path: '/workspace/a.ts', file_text: 'a' },
    { command: 'str_replace', path: '/workspace/a.ts', old_str: 'a', new_str: 'b' },
    { command: 'insert', path: '/workspace/a.ts', insert_line: 1, new_str: 'b' },
    { command: 'undo_edit', path: '/workspace/a.ts' },
  ],
  task_tracker: [{ command: 'plan', task_list: [{ title: 'One', status: 'todo' }] }],
  grep: [{ pattern: 'a' }],
  glob: [{ pattern: '**/*.ts' }],
  view: [{ path: '/workspace/a.ts' }],
}

const sessionOf = (agent: ToolAgent) =>
  openToolSession({ agent, parts: { browse: { policy: CLOSED }, hasKernel: true, hasBrowser: true } })
const session = sessionOf('CodeActAgent')

const prepared = TOOLS.flatMap((unit) => {
  const { prepare } = sessionOf(unit.agents[0] ?? 'CodeActAgent')
  return (CALLS[unit.name] ?? []).map((args) => ({ unit, args, action: prepare(unit.name, args).action }))
})

test('there are calls of every tool here', () => {
  expect(TOOLS.map(({ name }) => name).sort()).toEqual(Object.keys(CALLS).sort())
  expect(new Set(TOOLS.map(({ name }) => name)).size).toBe(TOOLS.length)
})

test('every action that a tool makes is of a kind that it declares, and what it observes is of one as well', () => {
  for (const { unit, args, action } of prepared) {
    const kind = actionKind(action.action)
    expect([unit.name, args, kind === null ? 'unknown' : unit.kinds.includes(kind)]).toEqual([unit.name, args, true])
  }
  const far = { name: 'far', remoteName: 'far', description: '', parameters: {}, repeatable: false }
  const server = { serverId: 'there', serverLabel: 'there' }
  const [remote] = mcpTools([{ ...far, ...server }], async () => ({ meta: null, content: [], isError: false }))
  expect(actionKind(remote?.prepare({}).action.action ?? '')?.observation).toBe('mcp')
})

test('a kind has one place, and one that nobody knows has none', () => {
  const actions = ACTION_KINDS.map(({ action }) => action)
  expect(new Set(actions).size).toBe(actions.length)
  for (const unit of TOOLS) {
    for (const kind of unit.kinds) expect([kind.action, actionKind(kind.action)]).toEqual([kind.action, kind])
    for (const { observation } of unit.kinds) expect([observation, observedKind(observation)]).not.toContain(null)
  }
  for (const name of ['teleport', 'constructor', '', 'action:run']) {
    expect([name, actionKind(name), observedKind(name)]).toEqual([name, null, null])
  }
})

test('the recorded action of every call is played again as one that does the same', () => {
  const again = ({ action, args }: ActionEvent) => {
    const replay = actionKind(action)?.replay
    return typeof replay === 'function' ? replay(args) : null
  }
  const played = prepared.map(({ action }) => {
    const call = again(action)
    return { before: action, after: call === null ? null : session.prepare(call.name, call.arguments).action }
  })
  for (const { before, after } of played) {
    // Who wrote the command of a search is not played again: the shell's tool runs it for the model.
    const { is_static: _, ...args } = before.args
    expect([before.action, after?.action]).toEqual([before.action, before.action])
    expect(after?.args).toMatchObject(args)
  }
})

test('what waits for its owner says what it is about', () => {
  for (const { action } of prepared) {
    const view = actionKind(action.action)?.view(action.args) ?? ''
    expect([action.action, view]).toEqual([action.action, expect.stringMatching(/\w/)])
    expect(view).not.toMatch(/undefined|null/)
  }
  expect(actionKind('edit')?.view({ path: '/workspace/a.ts' })).toBe('Editing file: /workspace/a.ts')
})
