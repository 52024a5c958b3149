// What is wrong with a text that is no script, and in which line: as `bash -n` of this machine tells it, also that nothing is.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diagnosed, syntaxMessage } from '../../../../src/kits/shell/interpreter/syntax/diagnosis.ts'
import { ROOT } from '../../../support/source-tree.ts'

const SCRIPTS = readFileSync(join(ROOT, 'test/fixtures/shell/scripts.txt'), 'utf8').trimEnd().split('\n%%\n')
/** `[[ ]]` is not looked into, and groups of patterns are part of a word whatever `extglob` says. */
const LOOKED_AT = SCRIPTS.filter((script) => !/\[\[ a|[@?*+!]\(|\$\(\(1 \+ 2\)$/.test(script))
const BROKEN = [
  'echo one\nfi\necho two',
  'echo "a\nb" ; fi',
  "echo 'open",
  'if true; then\n  echo x\n',
  'f() echo b',
  'for in 1 2; do echo x; done',
  'echo a && && echo b',
  'cat <<X\nhello\nX\nfi',
  'x=$(if); echo',
  'case x in\n  x) echo a ;;\ndone',
  'echo foo(bar)',
  'a=1\nif [[ $a -eq 1 ]]; then\n  echo yes\nelse if true; then\n  echo no\nfi',
]

const version = /version 5\.2/.test(spawnSync('bash', ['--version'], { encoding: 'utf8' }).stdout ?? '')

test.skipIf(!version)(
  `${LOOKED_AT.length} scripts and ${BROKEN.length} that are none are told apart as by bash`,
  () => {
    const different: object[] = []
    for (const script of [...LOOKED_AT, ...BROKEN]) {
      const { stderr, status } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' })
      const expected = status === 0 ? '' : stderr
      const found = diagnosed(script)
      const ours = found === null ? '' : syntaxMessage(found, 'bash')
      if (expected !== ours) different.push({ script, expected, ours })
    }
    expect(different).toEqual([])
  },
)

test('deep nesting and many openings are answered', () => {
  for (const text of [
    '$('.repeat(50_000),
    '((('.repeat(900),
    '"${a['.repeat(30_000),
    'x[ '.repeat(60_000),
    '<<a\n'.repeat(60_000),
  ]) {
    expect(() => diagnosed(text)).not.toThrow()
  }
})
