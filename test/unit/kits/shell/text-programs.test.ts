// Programs for awk and sed, here and in the machine's own mawk and GNU sed. What they write, how they exit and what they leave in
// the tree must be the same.

import { expect, inject, test } from 'vitest'
import { runScript } from '../../../../src/kits/shell/index.ts'
import { entriesOf, ourReports, realAnswers } from '../../../helpers/shell-corpus.ts'
import { compare } from '../../../helpers/shell-verdict.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

const { missing, isWhole, requireAll } = inject('realShell')

const LEAST_PROGRAMS = 300
const TIMEOUT_MS = 300_000

for (const name of ['awk', 'sed']) {
  test(`each program for ${name} does the same here and elsewhere`, { timeout: TIMEOUT_MS }, async ({ skip }) => {
    skip(missing.length > 0 && !requireAll, `there is no ${missing.join(' and no ')} on this machine`)
    const entries = await entriesOf(`programs-${name}`)
    const [answers, ours] = await Promise.all([realAnswers(`programs-${name}`), ourReports(entries)])
    const lacking = answers.find((answer) => !answer.ok)
    skip(lacking !== undefined && !requireAll, `there is no ${name === 'awk' ? 'mawk' : name} on this machine`)
    if (isWhole) expect(entries.length).toBeGreaterThanOrEqual(LEAST_PROGRAMS)
    const different = entries.flatMap((entry, i): unknown[] => {
      const [answer, report] = [answers[i], ours[i]]
      if (!answer?.ok || !report) return [{ script: entry.script, problem: 'there is no answer' }]
      const { verdict, tree } = compare(entry, answer.report, report)
      if (verdict === 'equal') return []
      const { stdout, stderr, exitCode } = answer.report
      return [
        { script: entry.script, real: { stdout, stderr, exitCode }, ours: report.output, code: report.exitCode, tree },
      ]
    })
    expect(different).toEqual([])
  })
}

async function ours(script: string, timeoutMs?: number) {
  const fs = new MemoryFileSystem()
  return runScript({ fs, script, cwd: '/workspace', env: {}, limits: { ...(timeoutMs && { timeoutMs }) } })
}

test('a program without an end is stopped at the time limit, and others are served while it runs', async () => {
  const endless = [
    "awk 'BEGIN { while (1); }'",
    "awk 'function f() { return 1 } BEGIN { for (;;) f() }'",
    'awk \'BEGIN { while ((getline x < "nothing") <= 0); }\'',
    "echo a | sed ':a; s/a/a/; ba'",
    "echo a | sed ':a; ba'",
  ]
  for (const script of endless) {
    let served = 0
    const serving = setInterval(() => served++, 1)
    const outcome = await ours(script, 300)
    clearInterval(serving)
    expect({ script, ...outcome }).toMatchObject({ script, exitCode: 124, timedOut: true })
    expect(served).toBeGreaterThan(0)
  }
})

test('a program that cannot end for want of memory says so', async () => {
  const deep = await ours("awk 'function f() { f() } BEGIN { f() }'")
  expect(deep).toMatchObject({ exitCode: 2 })
  expect(deep.output).toContain('too deeply')
  const long = await ours(
    'awk \'BEGIN { while (1) print "a long line of text that is written again and again" }\' >/dev/null',
  )
  expect(long).toMatchObject({ exitCode: 2 })
  expect(long.output).toContain('awk: the output is longer than 32 MiB')
})

test('characters count as characters, and bytes that are no text come through as they are', async () => {
  expect(
    (await ours("echo 'héllo wörld 😀' | awk '{print length($0), toupper($1), substr($0, 2, 4), index($0, \"w\")}'"))
      .output,
  ).toBe('13 HÉLLO éllo 7\n')
  expect((await ours("printf '%s\\n' 世界 | awk '{printf \"[%4s][%-3s][%.1s]\\n\", $1, $1, $1}'")).output).toBe(
    '[  世界][世界 ][世]\n',
  )
  expect(
    (
      await ours(
        "printf 'a\\377b\\n' | sed 's/a/x/' | od -An -c; printf 'a\\377b\\n' | awk '{sub(/b/, \"y\"); print}' | od -An -c",
      )
    ).output,
  ).toMatch(/x 377 +b +\\n\s+a 377 +y +\\n/)
})

test('what mawk alone does not know works as in every other awk', async () => {
  const program = 'BEGIN { print "aa" ~ /^a{2}$/, 2 ** 3, substr("hello", 0, 2), 2 ^ 31, 2 ^ 53, "a b" ~ /a\\sb/ }'
  expect((await ours(`awk '${program}'`)).output).toBe('1 8 h 2147483648 9007199254740992 1\n')
  expect((await ours('printf \'a:b\\nc\\n\\nd\' | awk \'BEGIN { RS = ""; FS = ":" } { print NF }\'')).output).toBe(
    '3\n1\n',
  )
})
