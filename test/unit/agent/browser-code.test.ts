// What a model writes for the browser is read by a grammar: nothing of it is run, and what does not fit is said.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pageActionsIn } from '../../../src/agent/tools/browser-code.ts'
import { actionKind } from '../../../src/agent/tools/index.ts'
import { BadCall } from '../../../src/agent/tools/tool.ts'
import { pageReportIn, quotedWords } from '../../../src/runners/page.ts'

test('calls of the functions with literals are actions, with names, defaults, comments and lines as in Python', () => {
  const code = `# look for it
fill('e7', "blue \\"shoes\\"\\n\\u00e9")
click(bid='e8', modifiers=['Shift', "Alt"]); noop()
select_option("f1e3", ['a', 'b'],)
  select_option('e3', 'one')
scroll(0, -200.5)
press('e7',
  'Control+a')  # and then
dialog(True, text='''it's''')
tab_focus(1)`
  expect(pageActionsIn(code)).toEqual([
    { name: 'fill', bid: 'e7', value: 'blue "shoes"\né' },
    { name: 'click', bid: 'e8', button: 'left', modifiers: ['Shift', 'Alt'] },
    { name: 'noop', wait_ms: 1000 },
    { name: 'select_option', bid: 'f1e3', options: ['a', 'b'] },
    { name: 'select_option', bid: 'e3', options: ['one'] },
    { name: 'scroll', delta_x: 0, delta_y: -200.5 },
    { name: 'press', bid: 'e7', key_comb: 'Control+a' },
    { name: 'dialog', accept: true, text: "it's" },
    { name: 'tab_focus', index: 1 },
  ])
})

test('anything else is refused with the line and what was expected, and nothing is done', () => {
  const refused: [code: string, why: RegExp][] = [
    ['', /there is no action/],
    ['  # only a remark', /there is no action/],
    ["__import__('os').system('id')", /no function __import__|line of its own/],
    ["goto(open('/etc/passwd').read())", /a text in quotes, a number/],
    ["click('e1' + 'e2')", /a "," or "\)"/],
    ["click(f'e1')", /a text in quotes/],
    ["goto('http://a.example/'", /a "," or "\)"/],
    ["goto('http://a.example/", /no end/],
    ["x = 'e1'\nclick(x)", /after x a "\("/],
    ["for i in range(9): click('e1')", /after for a "\("/],
    ["click('e1') click('e2')", /line of its own/],
    ["click('12; DROP')", /bid.*is no id of an element/],
    ["click('e1', 'left', [], 1)", /click takes bid, button, modifiers/],
    ["click('e1', bid='e2')", /click takes/],
    ["click(bid='e1', bid='e2')", /given twice/],
    ["click(bid='e1', 'left')", /without a name stands after/],
    ["click('e1', button='side')", /button/],
    ["fill('e1')", /value/],
    ["fill('e1', 5)", /value/],
    ['noop(1e9)', /a "," or "\)"|a text in quotes/],
    ['noop(99999)', /wait_ms/],
    ["select_option('e1', [['a']])", /a list in a list/],
    ['constructor()', /no function constructor/],
    ["send_msg_to_user('hi')", /no function send_msg_to_user/],
    ["hover('e1')\n".repeat(21), /at most 20 actions/],
    ["fill('e1', ['a'])", /value/],
  ]
  for (const [code, why] of refused) {
    expect(() => pageActionsIn(code), code).toThrow(BadCall)
    expect(() => pageActionsIn(code), code).toThrow(why)
  }
  expect(() => pageActionsIn('noop()\nnoop()\nwait()')).toThrow(/line 3/)
})

test('whatever the code is, it is read or refused, and texts come through as they were written', () => {
  fc.assert(
    fc.property(fc.string(), (code) => {
      try {
        pageActionsIn(code)
      } catch (error) {
        expect(error).toBeInstanceOf(BadCall)
      }
    }),
  )
  fc.assert(
    fc.property(fc.string(), (value) => {
      const written = value
        .replaceAll('\\', '\\\\')
        .replaceAll("'", "\\'")
        .replaceAll('\n', '\\n')
        .replaceAll('\r', '\\r')
      expect(pageActionsIn(`fill('e1', '${written}')`)).toEqual([{ name: 'fill', bid: 'e1', value }])
    }),
  )
})

test('the risk is high for what sends a file or cannot be read, low for a look, medium for the rest', () => {
  const risk = actionKind('browse_interactive')?.risk
  const riskOf = (code: unknown) => {
    if (risk?.by !== 'rules') throw new Error('no rules')
    return risk.rules.find(({ given }) => given({ args: { browser_actions: code }, hints: null, places: [] }))?.risk
  }
  expect([
    riskOf("upload_file('e1', 'a')"),
    riskOf("goto('http://a/')\nupload_file('e1', 'a')"),
    riskOf('os.system()'),
    riskOf(undefined),
    riskOf("click('e1')"),
    riskOf("goto('https://a.example/')"),
    riskOf('scroll(0, 1)\nnoop()'),
  ]).toEqual(['high', 'high', 'high', 'high', 'medium', 'medium', 'low'])
})

test('words of a stranger stay on one line, in quotes, without square brackets and without what cannot be seen', () => {
  expect(quotedWords(' a]\n[e1] b"\u202e\u200b\u2028====== c', 100)).toBe('"a) (e1) b\\" === c"')
  expect(quotedWords('x'.repeat(9), 3)).toBe('"xxx…"')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(quotedWords(text, 50)).toMatch(/^"[^[\]\n]*"$/u)
    }),
  )
})

test('a report that is none, too long or of another form is no page, and its pictures are PNG alone', () => {
  const state = {
    t: 'page',
    browser: 'a'.repeat(16),
    url: 'http://a/',
    urls: [],
    active: -1,
    tree: '',
    focused: '',
    last: '',
    error: '',
    notes: [],
  }
  const told = (...lines: object[]) => pageReportIn(lines.map((line) => JSON.stringify(line)).join('\n'))
  expect(told(state, { t: 'shot', which: 'marks', png: 'iVBORw0KGgoAAAA=' })).toMatchObject({
    screenshot: '',
    marks: 'data:image/png;base64,iVBORw0KGgoAAAA=',
  })
  expect(told(state, { t: 'shot', which: 'marks', png: '"><script>' })?.marks).toBe('')
  for (const bad of [
    { url: 'http://a/\n[x' },
    { browser: 'b' },
    { focused: 'x] ' },
    { tree: 'x'.repeat(30_000) },
    { notes: Array(50).fill('n') },
  ])
    expect(told({ ...state, ...bad })).toBe(null)
  expect(pageReportIn('no json\n{}\n')).toBe(null)
})
