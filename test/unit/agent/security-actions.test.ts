import { expect, test } from 'vitest'
import { runAction } from '../../../src/agent/actions.ts'
import type { ActionEvent } from '../../../src/agent/events.ts'
import { visible } from '../../../src/agent/hidden-characters.ts'
import { RISK } from '../../../src/agent/security/bench.ts'
import { ACTION_RULES, linksOf, needsConfirmation, riskOfAction } from '../../../src/agent/security/judgement.ts'
import { builtinPolicy } from '../../../src/agent/security/policy.ts'
import { loadScriptJudge } from '../../../src/agent/security/script-judge.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'

const judgeScript = await loadScriptJudge()
const { low, medium, high, unknown } = RISK

const action = (kind: string, args: object): ActionEvent => ({
  source: 'agent',
  message: '',
  action: kind,
  args: { ...args },
})
const run = (command: string) => runAction('agent', command)
const riskOf = (event: ActionEvent, isDestructive = false) =>
  riskOfAction(event, { judgeScript, secretNames: ['STAGING'], hints: { isDestructive } }).risk

test('each kind of action has its level, and one that no rule knows is high', () => {
  const risks: [ActionEvent, number][] = [
    [run('ls'), low],
    [run('rm a'), medium],
    [run('rm -r a'), high],
    [run('echo $STAGING'), high],
    [action('run', {}), low],
    [action('run_ipython', { code: '1' }), high],
    [action('browse', { url: 'https://example.com' }), medium],
    [action('browse_interactive', {}), high],
    [action('call_tool_mcp', { name: 'x', arguments: {} }), medium],
    [action('think', { thought: 'rm -rf /' }), low],
    [action('finish', {}), low],
    [action('delegate', {}), high],
    [action('teleport', {}), high],
    [action('constructor', {}), high],
  ]
  for (const [event, risk] of risks)
    expect([event.action, event.args, riskOf(event)]).toEqual([event.action, event.args, risk])
  expect(riskOf(action('call_tool_mcp', { name: 'x', arguments: {} }), true)).toBe(high)
})

test('the editor is judged by the file', () => {
  const ordinary = [
    '/workspace/a.ts',
    '/tmp/x',
    '/workspace/src/git.ts',
    '/workspace/.env.example',
    '/workspace/.gitignore',
  ]
  const precious = [
    ...[
      '/workspace/repo/.git/hooks/pre-commit',
      '/workspace/.GIT/config',
      '/workspace/.env',
      '/workspace/.husky/pre-push',
    ],
    ...['/workspace/../etc/passwd', '/etc/hosts', '/workspace/a/server.key', '/workspace/.bashrc'],
  ]
  for (const kind of ['edit', 'write']) {
    for (const path of ordinary) expect([path, riskOf(action(kind, { path }))]).toEqual([path, low])
    for (const path of precious) expect([path, riskOf(action(kind, { path }))]).toEqual([path, high])
  }
  const reads: [string, number][] = [
    ['/workspace/a.ts', low],
    ['/workspace/.env', high],
    ['/workspace/.env.example', low],
    ['/workspace/.git/config', medium],
    ['/workspace/.git/HEAD', low],
  ]
  for (const [path, risk] of reads) expect([path, riskOf(action('read', { path }))]).toEqual([path, risk])
})

test('the editor’s file is judged by where the links of the workspace lead, and by what the service makes of it', () => {
  const fs = new MemoryFileSystem()
  fs.makeDirectory('/workspace/.git/hooks', { recursive: true })
  fs.symlink('.git', '/workspace/cfg')
  fs.symlink('.env', '/workspace/notes')
  fs.symlink('src', '/workspace/source')
  const files = linksOf(fs)
  const actions: [kind: string, path: string, risk: number][] = [
    ['write', '/workspace/cfg/info/attributes', high],
    ['edit', '/workspace/cfg/config', high],
    ['read', '/workspace/notes', high],
    ['write', '/workspace/source/a.ts', low],
    ['write', '/workspace/.bellwether/pre-commit.sh', high],
    ['edit', '/workspace/repo/.openhands/setup.sh', high],
    ['write', '/workspace/.bellwether/microagents/repo.md', medium],
    ['read', '/workspace/.bellwether/setup.sh', low],
  ]
  for (const [kind, path, risk] of actions) {
    const verdict = riskOfAction(action(kind, { path }), { judgeScript, files })
    expect([kind, path, verdict]).toEqual([kind, path, { risk, reasons: risk === low ? [] : [expect.any(String)] }])
  }
})

test('what a person reads shows every character', () => {
  expect(visible('a\rb\u001b[2Kc\u202ed\u200be\n\tf é 貴 😀')).toBe('a\\u000db\\u001b[2Kc\\u202ed\\u200be\n\tf é 貴 😀')
})

test('a command with characters that cannot be seen, or that turn the direction of writing, is high and says so', () => {
  const hidden = [
    'ls \u202e#txet\u202c',
    'ls \u200b',
    'ls a\u2066b',
    'ls \u001b[2K',
    'ls \u{e0061}',
    'l\u00ads',
    '\ufeffls',
  ]
  for (const command of hidden) {
    const verdict = riskOfAction(run(command), { judgeScript })
    expect([command, verdict]).toEqual([command, { risk: high, reasons: [expect.stringContaining('cannot be seen')] }])
  }
  for (const command of ['ls 文件', 'ls 👨‍👩‍👧 ❤️', 'ls\tמסמך', 'ls می\u200cخواهم'])
    expect([command, riskOf(run(command))]).toEqual([command, low])
})

test('what reaches the owner’s level waits, whatever kind of action it is', () => {
  const asked = (event: ActionEvent, severity: number | null = null) =>
    needsConfirmation(event, { risk: riskOf(event), severity })
  expect([run('ls'), run('rm a'), run('rm -r a')].map((event) => asked(event))).toEqual([false, true, true])
  expect(asked(action('browse', { url: 'https://example.com' }))).toBe(true)
  expect(asked(action('browse', { url: 'https://example.com' }), high)).toBe(false)
  expect(asked(action('call_tool_mcp', { name: 'x' }))).toBe(true)
  expect(asked(action('edit', { path: '/workspace/a.ts' }))).toBe(false)
  expect(asked(action('edit', { path: '/workspace/.git/hooks/pre-push' }), high)).toBe(true)
  expect(asked(action('read', { path: '/workspace/.env' }))).toBe(true)
  expect(asked(action('teleport', {}), high)).toBe(true)
  expect([asked(run('ls'), low), asked(run('ls'), unknown)]).toEqual([true, true])
  expect(asked(action('think', { thought: 'x' }), unknown)).toBe(false)
  const ownSearch = { ...run('rg x'), args: { ...run('rg x').args, is_static: true } }
  expect(asked(ownSearch, low)).toBe(false)
  expect(asked(runAction('user', 'rm -r a'))).toBe(false)
})

test('without an analyzer everything waits that does more than look', () => {
  const waits = (event: ActionEvent) => needsConfirmation(event, { risk: null, severity: high })
  const kinds = ['run', 'run_ipython', 'edit', 'write', 'browse', 'call_tool_mcp', 'teleport']
  for (const kind of kinds) expect([kind, waits(action(kind, {}))]).toEqual([kind, true])
  for (const kind of ['read', 'think', 'finish', 'message'])
    expect([kind, waits(action(kind, {}))]).toEqual([kind, false])
})

test('a kind of action that nobody knows is asked about, whatever its owner chose and whatever it says of itself', () => {
  const strange = action('teleport', { is_static: true, security_risk: low, path: '/workspace/a.ts' })
  for (const risk of [null, unknown, low, medium, high, riskOf(strange)]) {
    for (const severity of [null, unknown, low, medium, high, high + 1]) {
      expect([risk, severity, needsConfirmation(strange, { risk, severity })]).toEqual([risk, severity, true])
    }
  }
  expect(riskOfAction(strange, { judgeScript })).toEqual({
    risk: high,
    reasons: ['does something of a kind that no rule knows'],
  })
})

test('users read every rule about actions', () => {
  const policy = builtinPolicy()
  for (const { about, says } of ACTION_RULES) expect(policy).toContain(`- ${about}: ${says}`)
})
