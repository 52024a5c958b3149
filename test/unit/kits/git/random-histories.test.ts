import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { firstDifference, type Step, TwoGits } from './two-gits.ts'

const PARTS = [
  'foo();\n',
  '  bar();\n',
  '\n',
  '}\n',
  'int f()\n',
  '{\n',
  '  if (x)\n',
  '    y();\n',
  'abc\n',
  ' \n',
  'end  \n',
]

const line = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...PARTS) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 50 }).map((i) => `line ${i}\n`) },
)
/** Where, as a part of the whole; how many lines go; what comes in their place. */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  gone: fc.integer({ min: 0, max: 3 }),
  lines: fc.array(line, { maxLength: 4 }),
})
const edits = fc.array(edit, { minLength: 1, maxLength: 5 })
const text = fc.array(line, { minLength: 5, maxLength: 50 })

/** Many when everything is to be proved. */
const runs = (count: number) => ({ numRuns: inject('isProof') ? count * 10 : count })

type Edit = { at: number; gone: number; lines: string[] }

function changed(before: readonly string[], all: readonly Edit[]): string[] {
  const after = [...before]
  for (const { at, gone, lines } of all) after.splice(Math.floor(at * (after.length + 1)), gone, ...lines)
  return after
}

/** A commit for each group of edits. */
function commits(first: readonly string[], groups: readonly Edit[][], name: string): Step[] {
  let lines = [...first]
  return groups.flatMap((group, i) => {
    lines = changed(lines, group)
    return [{ files: { f: lines.join('') } }, `commit -qam ${name}${i} --allow-empty`]
  })
}

const begun = (lines: readonly string[]): Step[] => [
  'init -q -b main',
  { files: { f: lines.join(''), o: 'o\n' } },
  'add -A',
  'commit -qm base',
]

test('patches, blame and the history of lines are as git has them, whatever was changed', async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.array(edits, { minLength: 4, maxLength: 8 }), async (first, groups) => {
      const steps: Step[] = [
        ...begun(first),
        ...commits(first, groups, 'c'),
        'log -p --format=%h',
        'log -p -U0 -w --format=%h',
        'log -p -b --histogram --format=%h',
        'blame f',
        'blame -w --line-porcelain f',
        'log -L 2,6:f --format=%h',
      ]
      expect(await firstDifference('random', steps)).toBeNull()
    }),
    runs(4),
  )
}, 900_000)

test('picks, rebases and merges end as they end with git, with the same commits and the same conflicts', async () => {
  const groups = fc.array(edits, { minLength: 2, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(text, groups, groups, async (first, ours, theirs) => {
      const state = ['log --format=%H --all', 'ls-files -s', 'status', 'diff']
      const steps: Step[] = [
        ...begun(first),
        'checkout -qb topic',
        ...commits(first, theirs, 't'),
        'checkout -q main',
        ...commits(first, ours, 'm'),
        'cherry-pick topic~1',
        ...state,
        'reset -q --hard HEAD',
        'merge topic',
        ...state,
        'reset -q --hard HEAD',
        'checkout -q topic',
        'rebase main',
        ...state,
      ]
      expect(await firstDifference('random', steps)).toBeNull()
    }),
    runs(5),
  )
}, 900_000)

test('a patch of any two texts is put in as git puts it in, at its place and elsewhere', async () => {
  await fc.assert(
    fc.asyncProperty(text, edits, edits, async (first, one, other) => {
      const two = new TwoGits('apply')
      for (const step of [...begun(first), ...commits(first, [one], 'c')]) {
        if (typeof step === 'object' && 'files' in step) await two.files(step.files)
        else if (typeof step === 'string') await two.git(step)
      }
      const patch = (await two.git('diff HEAD~1 HEAD')).real.stdout
      fc.pre(patch !== '')
      const put = async (words: string, stdin = '') => {
        const { ours, real } = await two.git(words, { stdin })
        expect({ words, code: ours.exitCode, out: ours.stdout }).toEqual({
          words,
          code: real.exitCode,
          out: real.stdout,
        })
      }
      await put('reset -q --hard HEAD~1')
      for (const flags of ['--stat', '--check', '', '-R']) await put(`apply ${flags}`.trim(), patch)
      // The real git refuses a file that is as in the index but younger, unless its times were compared anew or lie in one second.
      await put('status --short')
      for (const flags of ['--index', '-R --cached']) await put(`apply ${flags}`, patch)
      await put('reset -q --hard')
      await two.files({ f: changed(first, other).join('') })
      await put('commit -qam other --allow-empty')
      await put('apply', patch)
      await put('diff')
      await put('reset -q --hard')
      await put('apply --3way', patch)
      await put('diff')
      await put('ls-files -s')
    }),
    runs(5),
  )
}, 900_000)
