import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openToolSession } from './tool-session.ts'

const EDITOR = 'str_replace_editor'

test('a file is created, looked at, changed, taken back step by step and gone again', async () => {
  const { call, read, fs } = openToolSession()
  const path = '/workspace/src/deep/app.js'
  const edit = (args: object) => call(EDITOR, { path, ...args })
  const made = await edit({ command: 'create', file_text: 'one\ntwo\nthree\n' })
  expect(made).toMatchObject({
    observation: 'edit',
    content: `The file ${path} has been created (3 lines).`,
    extras: { path, prev_exist: false, old_content: '', new_content: 'one\ntwo\nthree\n', impl_source: 'oh_aci' },
  })
  expect(made.extras.diff).toBe('--- /dev/null\n+++ b/workspace/src/deep/app.js\n@@ -0,0 +1,3 @@\n+one\n+two\n+three\n')
  const changed = await edit({ command: 'str_replace', old_str: 'two', new_str: 'TWO' })
  expect(changed.extras).toMatchObject({ prev_exist: true, old_content: 'two', new_content: 'TWO' })
  expect(changed.extras.diff).toContain('@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n')
  expect(changed.content).toContain('     2\tTWO')
  await edit({ command: 'insert', insert_line: '0', new_str: 'zero' })
  await edit({ command: 'insert', insert_line: 4, new_str: 'four' })
  expect(await read(path)).toBe('zero\none\nTWO\nthree\nfour\n')
  expect((await edit({ command: 'view' })).content).toContain('lines 1 to 5 of 5:\n     1\tzero\n')
  expect((await edit({ command: 'view', view_range: [2, 3] })).content).toMatch(
    /lines 2 to 3 of 5:\n {5}2\tone\n {5}3\tTWO$/,
  )
  expect((await call(EDITOR, { command: 'view', path: '/workspace' })).content).toMatch(
    /\n\/workspace\/src\/\n\/workspace\/src\/deep\/$/,
  )
  const texts: (string | null)[] = []
  for (let i = 0; i < 5; i++) {
    await edit({ command: 'undo_edit' })
    texts.push(await read(path).catch(() => null))
  }
  expect(texts).toEqual(['zero\none\nTWO\nthree\n', 'one\nTWO\nthree\n', 'one\ntwo\nthree\n', null, null])
  expect(() => fs.stat(path)).toThrow('ENOENT')
})

test('a change that is not clear is refused with what would make it clear, and nothing is touched', async () => {
  const { call, read, write, refusal } = openToolSession()
  const path = '/workspace/a.txt'
  await write(path, 'x = 1\n  y = 2\nx = 1\n')
  const told = async (args: object) => (await call(EDITOR, { path, ...args })).content
  expect(await told({ command: 'str_replace', old_str: 'x = 1', new_str: '' })).toMatch(
    /^ERROR:\n.*2 times, in lines 1, 3\./,
  )
  expect(await told({ command: 'str_replace', old_str: 'y  =  2', new_str: '' })).toContain('line 2 is alike')
  expect(await told({ command: 'str_replace', old_str: 'absent', new_str: '' })).toContain('does not occur')
  expect(await told({ command: 'create', file_text: '' })).toContain('create never overwrites')
  expect(await told({ command: 'insert', insert_line: 4, new_str: 'x' })).toContain('from 0 to 3')
  expect(await told({ command: 'insert', insert_line: -1, new_str: 'x' })).toContain('from 0 to 3')
  expect(await told({ command: 'undo_edit' })).toContain('no change')
  for (const view_range of [[0, 1], [3], [4, 5], [2, 1], [1, 2, 3]]) {
    expect(await told({ command: 'view', view_range })).toMatch(/^ERROR:\n/)
  }
  expect(await read(path)).toBe('x = 1\n  y = 2\nx = 1\n')
  expect(refusal(EDITOR, { command: 'str_replace', path, old_str: '' })).toContain('old_str is empty')
  expect(refusal(EDITOR, { command: 'str_replace', path, old_str: 'a', new_str: 'a' })).toContain('the same')
  expect(refusal(EDITOR, { command: 'create', path })).toContain('needs file_text')
  expect(refusal(EDITOR, { command: 'delete', path })).toMatch(/arguments of str_replace_editor do not fit\. command: /)
  expect(refusal(EDITOR, { command: 'view' })).toContain('path: ')
  expect(refusal(EDITOR, { command: 'view', path, view_range: ['a'] })).toContain('view_range.0: ')
  expect(refusal(EDITOR, '{"command": "view"')).toContain('not valid JSON')
  expect(refusal(EDITOR, '[1]')).toContain('one JSON object')
  expect(refusal(EDITOR, `{"path":"${'x'.repeat(1_000_001)}"}`)).toContain('characters long')
  const polluted = await call(EDITOR, `{"__proto__":{"path":"/etc"},"constructor":1,"command":"view","path":"${path}"}`)
  expect(polluted.content).toContain('x = 1')
  expect(({} as { path?: string }).path).toBe(undefined)
})

test('paths that lead elsewhere are refused, however they are spelt', async () => {
  const { call, fs, write } = openToolSession()
  fs.makeDirectory('/etc')
  await write('/etc/passwd', 'root')
  await write('/home/user/.netrc', 'password')
  fs.symlink('/etc', '/workspace/out')
  fs.symlink('/etc/new', '/workspace/dangling')
  fs.symlink('loop', '/workspace/loop')
  const outside = [
    '/etc/passwd',
    '/workspace/../etc/passwd',
    '//etc//passwd',
    '/workspace/out/passwd',
    '/workspace/out/new.txt',
    '/workspace/dangling',
    '/workspace/loop/x',
    '/home/user/.netrc',
    'src/a.js',
    '/workspace/a\0b',
    `/workspace/${'x'.repeat(300)}`,
    `/${'x/'.repeat(3000)}`,
    '/workspace/\ud800',
  ]
  for (const path of outside) {
    for (const command of ['view', 'create', 'undo_edit']) {
      const { content } = await call(EDITOR, { command, path, file_text: 'evil' })
      expect([path, command, content]).toEqual([path, command, expect.stringMatching(/^ERROR:\n/)])
    }
  }
  expect(fs.list('/etc').map(({ name }) => name)).toEqual(['passwd'])
  fs.symlink('/workspace/real.txt', '/workspace/link')
  await write('/workspace/real.txt', 'a\n')
  await call(EDITOR, { command: 'str_replace', path: '/workspace/link', old_str: 'a', new_str: 'b' })
  expect(fs.lstat('/workspace/link').kind).toBe('symlink')
  expect(new TextDecoder().decode(await fs.read('/workspace/real.txt'))).toBe('b\n')
})

test('line ends, byte order mark and the missing last line end are kept; what is no text is left alone', async () => {
  const { call, read, write } = openToolSession()
  const path = '/workspace/dos.txt'
  const edit = (args: object) => call(EDITOR, { path, ...args })
  await write(path, '\uFEFFone\r\ntwo\r\nthree')
  expect((await edit({ command: 'view' })).content).toMatch(/ {5}1\tone\n {5}2\ttwo\n {5}3\tthree$/)
  await edit({ command: 'str_replace', old_str: 'one\ntwo', new_str: 'ONE\n1.5\ntwo' })
  await edit({ command: 'insert', insert_line: 0, new_str: 'zero\nhalf' })
  await edit({ command: 'insert', insert_line: 6, new_str: '😀 end' })
  expect(await read(path)).toBe('\uFEFFzero\r\nhalf\r\nONE\r\n1.5\r\ntwo\r\nthree\r\n😀 end')
  for (let i = 0; i < 3; i++) await edit({ command: 'undo_edit' })
  expect(await read(path)).toBe('\uFEFFone\r\ntwo\r\nthree')
  for (const content of [Uint8Array.of(97, 0, 98), Uint8Array.of(0xff, 0xfe, 97)]) {
    await write('/workspace/bin', content)
    for (const command of ['view', 'str_replace', 'insert']) {
      const args = { command, path: '/workspace/bin', old_str: 'a', new_str: 'b', insert_line: 0 }
      expect((await call(EDITOR, args)).content).toContain('not a text file')
    }
  }
})

test('a change is not taken back over what somebody else wrote since', async () => {
  const { call, read, write } = openToolSession()
  const path = '/workspace/a.txt'
  await call(EDITOR, { command: 'create', path, file_text: 'a\n' })
  await call('execute_bash', { command: 'echo b >> a.txt' })
  expect((await call(EDITOR, { command: 'undo_edit', path })).content).toContain('changed since by other means')
  expect(await read(path)).toBe('a\nb\n')
  await write(path, 'a\n')
  expect((await call(EDITOR, { command: 'undo_edit', path })).content).toContain('removed again')
})

test('large files and long lines are shown in part, folders up to a number of entries, pictures as pictures', async () => {
  const { call, write, fs } = openToolSession()
  await write('/workspace/large.txt', 'line\n'.repeat(100_000))
  const shown = await call(EDITOR, { command: 'view', path: '/workspace/large.txt' })
  expect(shown.content.length).toBeLessThan(31_000)
  expect(shown.content).toMatch(/\[\.\.\. \d+ characters left out \.\.\.\][\s\S]*100000\tline$/)
  await write('/workspace/min.js', 'x'.repeat(1_000_000))
  expect((await call(EDITOR, { command: 'view', path: '/workspace/min.js' })).content).toContain(
    'more characters in this line',
  )
  await write('/workspace/huge.txt', new Uint8Array(9_000_000).fill(97))
  expect((await call(EDITOR, { command: 'view', path: '/workspace/huge.txt' })).content).toContain('9000000 bytes')
  for (let i = 0; i < 1100; i++) fs.makeDirectory(`/workspace/many/${i}`, { recursive: true })
  expect((await call(EDITOR, { command: 'view', path: '/workspace/many' })).content).toContain('more than 1000 entries')
  await write('/workspace/dot.png', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 1, 2))
  expect((await call(EDITOR, { command: 'view', path: '/workspace/dot.png' })).content).toBe(
    'data:image/png;base64,iVBORwEC',
  )
  await write('/workspace/fake.png', '<svg onload=alert(1)>')
  expect((await call(EDITOR, { command: 'view', path: '/workspace/fake.png' })).content).toContain('is none')
  const blind = openToolSession({ fs, parts: { seesImages: false } })
  expect((await blind.call(EDITOR, { command: 'view', path: '/workspace/dot.png' })).content).toContain('sees none')
})

test('whatever is replaced and inserted, taking everything back leads to the text that was there', async () => {
  const line = fc.constantFrom('a', 'bb', 'c\r', '', '😀', '\ttab', 'a b')
  const change = fc.record({ insert: fc.boolean(), at: fc.nat(8), text: fc.array(line, { maxLength: 3 }) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 8 }),
      fc.array(change, { maxLength: 6 }),
      async (lines, changes) => {
        const { call, read, write } = openToolSession()
        const path = '/workspace/f'
        const texts = [lines.join('\n')]
        await write(path, lines.join('\n'))
        for (const { insert, at, text } of changes) {
          const before = await read(path)
          const old = before.split('\n').slice(0, at).join('\n')
          const args = insert
            ? { command: 'insert', insert_line: at, new_str: text.join('\n') }
            : { command: 'str_replace', old_str: `${old}\n`, new_str: text.join('\n') }
          const outcome = await call(EDITOR, { path, ...args }).catch(() => null)
          if (outcome !== null && !outcome.content.startsWith('ERROR')) texts.push(await read(path))
        }
        while (texts.length > 1) {
          expect(await read(path)).toBe(texts.pop())
          await call(EDITOR, { command: 'undo_edit', path })
        }
        expect(await read(path)).toBe(texts[0])
      },
    ),
    { numRuns: 200 },
  )
})
