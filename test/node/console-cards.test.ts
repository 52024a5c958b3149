import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { KINDS, type Parameter } from '../../src/alerts/kinds.ts'
import { ALERT_KINDS } from '../../src/web/analysis/alert-kinds.ts'
import { coloured, isForTerminal } from '../../src/web/conversation/ansi.ts'
import { diffLines, sideBySide } from '../../src/web/conversation/diff.ts'
import { askedOf, entryOf, toEntries } from '../../src/web/conversation/entries.ts'
import { visible } from '../../src/web/visible.ts'
import type { StoredEvent } from '../../src/web/wire.ts'
import { ZH } from '../../src/web/zh.ts'
import { ROOT } from '../support/source-tree.ts'

const ESC = String.fromCharCode(27)

const event = (id: number, fields: Partial<StoredEvent>): StoredEvent => ({
  id,
  timestamp: '2026-08-14T10:00:00.000000Z',
  source: 'agent',
  message: '',
  ...fields,
})

test('what a terminal prints keeps its colours, loses its movements, and a line printed over itself stands as printed last', () => {
  const output = `${ESC}[?25l${ESC}[31mred${ESC}[0m plain\n10 %\r20 %\r\n${ESC}]0;title${String.fromCharCode(7)}${ESC}[1;32mok${ESC}[0m${ESC}[2K`
  expect(coloured(output)).toEqual([
    { text: 'red', classes: 'ansi-red' },
    { text: ' plain\n20 %\n', classes: '' },
    { text: 'ok', classes: 'ansi-green ansi-bold' },
  ])
  expect(coloured('<b>&amp;</b>')).toEqual([{ text: '<b>&amp;</b>', classes: '' }])
})

test('a colour that the page does not have is shown as the nearest that it has, and what is turned round has both', () => {
  const shown = (codes: string) => coloured(`${ESC}[${codes}mx`)[0]?.classes
  expect(['38;5;208', '38;5;46', '38;5;244', '38;2;100;200;255', '48;2;200;20;20'].map(shown)).toEqual([
    'ansi-yellow',
    'ansi-green',
    'ansi-bright-black',
    'ansi-cyan',
    'ansi-red-bg',
  ])
  expect(shown('7')).toBe('ansi-black ansi-white-bg')
  expect([`${ESC}[1m`, 'a\rb', 'plain\n'].map(isForTerminal)).toEqual([true, true, false])
})

test('an action that waits, one that was rejected and one that failed say so in their cards, and why a turn failed is told once', () => {
  const run = { action: 'run', args: { command: 'rm -r x', confirmation_state: 'awaiting_confirmation' } }
  const state = { observation: 'agent_state_changed', extras: { agent_state: 'error', reason: 'STATUS$ERROR_LLM' } }
  const entries = toEntries([
    event(1, run),
    event(2, { observation: 'user_rejected', cause: 1, content: 'no' }),
    event(3, { ...run, args: { ...run.args, command: 'rm -r y' } }),
    event(4, { action: 'edit', args: { path: '/workspace/a' } }),
    event(5, { observation: 'error', cause: 4, content: 'no such text' }),
    event(6, { observation: 'error', content: 'the key was refused' }),
    event(7, state),
    event(10, { action: 'read', args: { path: '/workspace/none' } }),
    event(11, { observation: 'read', cause: 10, content: 'ERROR:\nThere is nothing' }),
    event(8, { action: 'message', args: {}, message: 'x' }),
    event(9, state),
  ])
  expect(entries).toMatchObject([
    { id: 1, kind: 'command', answer: 'rejected' },
    { id: 3, kind: 'command', answer: 'awaited' },
    { id: 4, kind: 'step', hasFailed: true, result: 'no such text' },
    { id: 6, kind: 'error', text: 'the key was refused' },
    { id: 10, kind: 'step', hasFailed: true },
    { id: 8, kind: 'said' },
    { id: 9, kind: 'error', text: 'STATUS$ERROR_LLM' },
  ])
})

test('whoever is asked about an action reads the whole of it, and its card stands once when it was answered', () => {
  const command = `echo ${'x'.repeat(3_000)}; rm -rf /`
  expect(askedOf(event(1, { action: 'run', args: { command, thought: 'a thought' } }))).toBe(command)
  const args = { path: '/workspace/a.ts', command: 'str_replace', old_str: 'a\nb', new_str: 'c', insert_line: null }
  const asked = { ...args, thought: 'why', security_risk: 1, security_reasons: ['r'] }
  const edit = event(2, { action: 'edit', args: { ...asked, confirmation_state: 'awaiting_confirmation' } })
  const told = 'path: /workspace/a.ts\ncommand: str_replace\nold str:\na\nb\nnew str: c'
  expect(askedOf(edit)).toBe(`edit\n${told}`)
  const tool = { name: 'send', arguments: { to: 'ann', all: true } }
  expect(askedOf(event(3, { action: 'call_tool_mcp', args: tool }))).toBe(
    'tool\nname: send\narguments:\n{\n  "to": "ann",\n  "all": true\n}',
  )
  const again = { ...edit, id: 4, args: { ...asked, thought: '', confirmation_state: 'confirmed' } }
  expect(toEntries([edit, again])).toMatchObject([{ id: 4, kind: 'step', answer: '', body: told }])
})

test('what an agent says before it does something stands with what it does, whichever tool that is, and in its last message', () => {
  const thought = 'First I *look*.'
  const edit = { path: '/workspace/a', thought, confirmation_state: 'awaiting_confirmation' }
  const entries = toEntries([
    event(1, { action: 'read', args: { path: '/workspace/a', thought } }),
    event(2, { observation: 'read', cause: 1, content: 'x' }),
    event(3, { action: 'edit', args: edit }),
    event(4, { action: 'edit', args: { ...edit, thought: '', confirmation_state: 'confirmed' } }),
    event(5, { observation: 'edit', cause: 4, content: 'changed', extras: { path: 'a', diff: '@@\n+b\n' } }),
    event(6, { action: 'run_ipython', args: { code: '1', thought } }),
    event(7, { action: 'call_tool_mcp', args: { name: 'add', thought } }),
    event(8, { action: 'finish', args: { thought, final_thought: 'Done.' } }),
    event(9, { action: 'finish', args: { thought: 'Done.', final_thought: 'Done.' } }),
  ])
  expect(entries).toMatchObject([
    { id: 1, kind: 'step', thought, result: 'x' },
    { id: 4, from: 3, kind: 'edit', thought },
    { id: 6, kind: 'step', thought },
    { id: 7, kind: 'step', thought },
    { id: 8, kind: 'said', text: `${thought}\n\nDone.` },
    { id: 9, kind: 'said', text: 'Done.' },
  ])
})

test('an event that is jumped to leads to the card that tells of it: its message, its action, or what stands before', () => {
  const edit = { action: 'edit', args: { path: '/workspace/a', confirmation_state: 'awaiting_confirmation' } }
  const entries = toEntries([
    event(1, { action: 'message', source: 'user', args: { content: 'ls' } }),
    event(2, { action: 'run', args: { command: 'ls' } }),
    event(3, { action: 'message', source: 'user', args: { content: 'and more' } }),
    event(4, { observation: 'run', cause: 2, content: 'a.txt' }),
    event(5, edit),
    event(6, { observation: 'agent_state_changed', extras: { agent_state: 'running' } }),
    event(7, { ...edit, args: { ...edit.args, confirmation_state: 'confirmed' } }),
    event(8, { observation: 'agent_state_changed', extras: { agent_state: 'running' } }),
  ])
  const led = (id: number, cause: number | null = null) => entryOf(entries, { id, cause })?.id
  expect([led(0), led(1), led(2), led(3), led(4, 2), led(5), led(6), led(7), led(8)]).toEqual([
    ...[2, 2, 2, 3, 2],
    ...[7, 7, 7, 7],
  ])
})

test('a command that was stopped is one card with what it had printed, and says why it has no outcome', () => {
  const entries = toEntries([
    event(1, { action: 'run', args: { command: 'sleep 9' } }),
    event(2, { observation: 'error', cause: 1, message: 'Stopped by the user. Its output until then:\none\ntwo' }),
  ])
  expect(entries).toMatchObject([
    { id: 1, output: { text: 'one\ntwo', exitCode: null, fault: 'Stopped by the user. Its output until then:' } },
  ])
})

test('what a model thinks is Markdown, a plan has a sign for the step under way, and a cell is without its footer', () => {
  const footer = '\n[Jupyter current working directory: /workspace]\n[Jupyter Python interpreter: /usr/bin/python3]'
  const entries = toEntries([
    event(1, { action: 'think', args: { thought: '1. [x] look\n2. [>] mend\n3. [ ] test' } }),
    event(2, { action: 'think', source: 'environment', args: { thought: 'Commands run on a runner.' } }),
    event(3, { action: 'run_ipython', args: { code: '1' } }),
    event(4, { observation: 'run_ipython', cause: 3, content: `1${footer}` }),
  ])
  expect(entries).toMatchObject([
    { kind: 'thought', text: '1. [x] look\n2. [ ] **mend** (under way)\n3. [ ] test' },
    { kind: 'note', text: 'Commands run on a runner.' },
    { kind: 'step', result: '1' },
  ])
})

test('a diff has its lines without the names of its files, and replaced lines stand beside those that replaced them', () => {
  const lines = diffLines(
    '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n--two\n+zwei\n+drei\n\\ No newline at end of file\n',
  )
  expect(lines).toEqual([
    { kind: 'place', text: '@@ -1,3 +1,3 @@', was: null, is: null },
    { kind: 'same', text: 'one', was: 1, is: 1 },
    { kind: 'removed', text: '-two', was: 2, is: null },
    { kind: 'added', text: 'zwei', was: null, is: 2 },
    { kind: 'added', text: 'drei', was: null, is: 3 },
    { kind: 'place', text: 'No newline at end of file', was: null, is: null },
  ])
  expect(sideBySide(lines).slice(1, 4)).toEqual([
    [lines[1], lines[1]],
    [lines[2], lines[3]],
    [null, lines[4]],
  ])
  expect(sideBySide([])).toEqual([])
})

test('an action and what it brought are one card, also where it failed; a change of a file shows its diff', () => {
  const picture = 'data:image/png;base64,AAAA'
  const entries = toEntries([
    event(1, { action: 'edit', args: { path: '/workspace/a.ts' } }),
    event(2, { observation: 'edit', cause: 1, content: 'changed', extras: { path: 'a.ts', diff: '@@\n-a\n+b\n' } }),
    event(3, { action: 'browse', args: { url: 'https://example.com/' } }),
    event(4, { observation: 'browse', cause: 3, content: 'text', extras: { url: 'u', screenshot: picture } }),
    event(5, { action: 'read', args: { path: '/workspace/no' } }),
    event(6, { observation: 'error', cause: 5, content: 'there is none' }),
    event(7, { action: 'call_tool_mcp', args: { name: 'add' } }),
    event(8, { observation: 'mcp', cause: 2, content: 'of an action that is not loaded' }),
    event(9, {
      source: 'user',
      action: 'message',
      args: { content: 'see', image_urls: [picture, 'https://x.example/p.png'] },
    }),
  ])
  expect(entries).toMatchObject([
    { id: 1, kind: 'edit', path: 'a.ts', diff: '@@\n-a\n+b\n', result: 'changed' },
    { id: 3, kind: 'step', title: 'browse https://example.com/', result: 'text', pictures: [picture] },
    { id: 5, kind: 'step', title: 'read /workspace/no', result: 'there is none' },
    { id: 7, kind: 'step', title: 'tool add', result: null },
    { id: 8, kind: 'step', result: 'of an action that is not loaded' },
    { id: 9, kind: 'said', by: 'user', text: 'see', pictures: [picture] },
  ])
})

test('a cell and a step in the browser are seen at once, the page as the agent reads it on request', () => {
  const picture = 'data:image/png;base64,AAAA'
  const tree = '============== BEGIN accessibility tree ==============\n[e2] button "Buy"'
  const entries = toEntries([
    event(1, { action: 'run_ipython', args: { code: 'x + 1' } }),
    event(2, { observation: 'run_ipython', cause: 1, content: '42', extras: { code: 'x + 1', image_urls: [picture] } }),
    event(3, { action: 'browse_interactive', args: { browser_actions: "goto('http://localhost:3000/')" } }),
    event(4, {
      observation: 'browse',
      cause: 3,
      content: `[Current URL: http://localhost:3000/]\n${tree}`,
      extras: { trigger_by_action: 'browse_interactive', set_of_marks: picture },
    }),
    event(5, { action: 'browse', args: { url: 'u' } }),
    event(6, { observation: 'browse', cause: 5, content: tree, extras: { trigger_by_action: 'browse' } }),
  ])
  const shown = { kind: 'step', isOpen: true, pictures: [picture] }
  expect(entries).toMatchObject([
    { ...shown, id: 1, title: 'Notebook', body: 'x + 1', result: '42', more: '' },
    { ...shown, id: 3, title: 'Browser', body: "goto('http://localhost:3000/')", more: tree },
    { id: 5, kind: 'step', isOpen: false, result: tree, more: '' },
  ])
  expect(entries[1]).toMatchObject({ result: '[Current URL: http://localhost:3000/]' })
})

test('what went wrong is said once: the reason of the state after it is for programs, and stands alone where nothing else was said', () => {
  const said = event(1, { observation: 'error', message: 'The model needs an API key.' })
  const state = event(2, {
    observation: 'agent_state_changed',
    extras: { agent_state: 'error', reason: 'STATUS$ERROR_LLM_AUTHENTICATION' },
  })
  expect(toEntries([said, state]).map((entry) => 'text' in entry && entry.text)).toEqual([
    'The model needs an API key.',
  ])
  expect(toEntries([state])).toMatchObject([{ kind: 'error', text: 'STATUS$ERROR_LLM_AUTHENTICATION' }])
})

test('the form of the console offers every kind with the scopes and parameters that the service takes', () => {
  const names = (fields: readonly { name: string }[]) => fields.map(({ name }) => name).sort()
  const offered = Object.entries(ALERT_KINDS).map(([type, { scopes, fields }]) => [type, scopes, names(fields)])
  const taken = Object.entries(KINDS).map(([type, { scopes, parameters }]) => [type, scopes, names(parameters)])
  const byType = (rows: unknown[][]) => rows.sort(([a], [b]) => String(a).localeCompare(String(b)))
  expect(byType(offered)).toEqual(byType(taken))
  for (const [type, { fields }] of Object.entries(ALERT_KINDS)) {
    const specs: readonly Parameter[] = KINDS[type as keyof typeof KINDS].parameters
    for (const field of fields) {
      const spec = specs.find(({ name }) => name === field.name)
      const known = spec !== undefined && 'values' in spec ? spec.values : null
      expect([type, field.name, 'values' in field ? field.values.map(([value]) => value) : null]).toEqual([
        type,
        field.name,
        known,
      ])
    }
  }
})

test('that no model is here is told in the reader’s language: the service’s own words are known to the page', () => {
  const source = readFileSync(join(ROOT, 'src/agent/command-step.ts'), 'utf8')
  const content = /^const ABOUT = `([^`]+)`/m.exec(source)?.[1]
  const [note] = toEntries([event(1, { action: 'system', args: { agent_class: 'ShellAgent', content } })])
  expect(note).toMatchObject({ kind: 'note', text: expect.stringMatching(/^This conversation is a shell\. /) })
  expect(Object.keys(ZH)).toContain(note?.kind === 'note' ? note.text : '')
})

test('what cannot be seen, or turns what is seen around, stands as its number; emoji and joined letters stay as they are', () => {
  expect(visible('rm -rf /tmp/a \u202e# etelpmoc tset\u202c \u200b')).toBe(
    'rm -rf /tmp/a ⟨U+202E⟩# etelpmoc tset⟨U+202C⟩ ⟨U+200B⟩',
  )
  expect(visible('r\u200dm a\u00adb\u3164\u001b[2K\u{e0041}')).toBe('r⟨U+200D⟩m a⟨U+00AD⟩b⟨U+3164⟩⟨U+001B⟩[2K⟨U+E0041⟩')
  const wanted = [
    '👨‍👩‍👧',
    '❤️',
    '1️⃣',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '👍🏽',
    'می\u200cخواهم',
    'क्\u200dष',
    '中文 é שלום\tx\n',
  ]
  expect(wanted.map(visible)).toEqual(wanted)
  expect(visible(`🎉${'\u{e0041}'.repeat(2)}`)).toBe('🎉⟨U+E0041⟩⟨U+E0041⟩')
})
