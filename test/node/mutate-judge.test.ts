// What the mutation runs make of the test process: one that does not start, and tests that fail without any mutant.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { judge, type Verdict } from '../../scripts/mutate/judge.ts'
import { type Mutation, mutationsOf } from '../../scripts/mutate/mutations.ts'
import { readOptions } from '../../scripts/mutate/options.ts'
import { addImports, type Reach, textKey } from '../../scripts/mutate/reach.ts'
import { Suite } from '../../scripts/mutate/suite.ts'
import type { Order, SuiteMessage } from '../../scripts/mutate/suite-process.ts'
import { testsFor } from '../../scripts/mutate/tests-for.ts'
import { refusedOf } from '../../scripts/mutate/types.ts'
import { Verdicts } from '../../scripts/mutate/verdicts.ts'
import { ROOT, textOf } from '../support/source-tree.ts'

const folder = mkdtempSync(join(tmpdir(), 'mutate-judge-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** In the place of vitest: answers each order with the next of the prepared ones, over all its lives. */
const PROCESS = `
import { appendFileSync, readFileSync } from 'node:fs'
process.on('message', (order) => {
  appendFileSync('orders.txt', JSON.stringify({ pid: process.pid, ...order }) + '\\n')
  const at = readFileSync('orders.txt', 'utf8').trim().split('\\n').length - 1
  for (const said of JSON.parse(readFileSync('answers.json', 'utf8'))[at]) process.send(said)
})
process.on('disconnect', () => process.exit(0))
`
const MUTATED = 'src/lib/clock.ts'
/** None of them is run. */
const [FIRST, SECOND] = ['test/unit/alarms.test.ts', 'test/unit/mcp/bounds.test.ts']

const ended = (path: string, state: 'passed' | 'failed'): SuiteMessage => ({
  kind: 'file',
  file: { path, state, durationMs: 1, called: {}, loaded: {}, errors: state === 'failed' ? ['not so'] : [] },
})
const done = (unstarted: string[] = []): SuiteMessage => ({ kind: 'done', errors: [], unstarted })
const NOT_STARTED = done(['Error: [vitest-pool]: Failed to start cloudflare-pool worker for test files x.'])

function someMutation(): Mutation {
  const found = mutationsOf(MUTATED, textOf(MUTATED)).find(({ inFunction }) => inFunction !== null)
  if (!found) throw new Error(`nothing in ${MUTATED} can be mutated`)
  return found
}

type Course = { endMs?: number; leastMs?: number; kept?: Pick<Verdicts, 'find' | 'keep'> }

const NOTHING_KEPT = { find: () => null, keep: () => {} }

async function judged(
  tests: readonly string[],
  answers: readonly SuiteMessage[][],
  { endMs, leastMs = 60_000, kept = NOTHING_KEPT }: Course = {},
) {
  const root = mkdtempSync(join(folder, 'tree-'))
  mkdirSync(join(root, 'scripts', 'mutate'), { recursive: true })
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(root, 'scripts', 'mutate', 'suite-process.ts'), PROCESS)
  writeFileSync(join(root, 'answers.json'), JSON.stringify(answers))
  const mutation = someMutation()
  const called = { [textKey(MUTATED)]: [mutation.inFunction ?? 0] }
  const reached = tests.map((path, index) => [path, { hash: '', state: 'passed' as const, durationMs: index, called }])
  const suite = new Suite(root, { marksFunctions: false, ...(endMs === undefined ? {} : { endMs }) })
  const verdicts: Verdict[] = []
  const scratch = { write: () => {}, build: () => [], restore: () => {} }
  const reach = { tests: Object.fromEntries(reached), loaded: {} }
  try {
    const court = { scratch, suite, reach, files: [MUTATED], budgetMs: 60_000, leastMs, verdicts: kept }
    await judge([mutation], court, (_, verdict) => verdicts.push(verdict))
  } finally {
    suite.close()
  }
  const path = join(root, 'orders.txt')
  const orders = (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []).map(
    (line) => JSON.parse(line) as Order & { pid: number },
  )
  return { verdicts, asked: orders.map((order) => order.tests), processes: new Set(orders.map(({ pid }) => pid)).size }
}

test('a run that does not start is tried again in a new process, and its mutant is judged by the one that starts', async () => {
  const { verdicts, asked, processes } = await judged(
    [FIRST],
    [[NOT_STARTED], [NOT_STARTED], [ended(FIRST, 'passed'), done()]],
  )
  expect(verdicts).toEqual([{ state: 'survived', by: '' }])
  expect([asked, processes]).toEqual([[[FIRST], [FIRST], [FIRST]], 3])
})

test('a run that never starts, or ends without a word of its tests, is an error and catches nothing', async () => {
  const never = await judged([FIRST], [[NOT_STARTED], [NOT_STARTED], [NOT_STARTED]])
  expect(never.verdicts).toEqual([{ state: 'error', by: expect.stringContaining('Failed to start') }])
  const silent = await judged([FIRST], [[done()], [done()], [done()]])
  expect(silent.verdicts).toEqual([{ state: 'error', by: `no outcome of ${FIRST}` }])
})

test('a test that fails with the mutant alone catches it, also beside one that does not start', async () => {
  const failed = ended(FIRST, 'failed')
  const caught = { state: 'caught', by: `${FIRST}: not so` }
  const alone = await judged(
    [FIRST],
    [
      [failed, done()],
      [ended(FIRST, 'passed'), done()],
      [failed, done()],
    ],
  )
  expect(alone.verdicts).toEqual([caught])
  const beside = await judged(
    [FIRST, SECOND],
    [
      [failed, NOT_STARTED],
      [ended(FIRST, 'passed'), done()],
      [failed, done()],
    ],
  )
  expect(beside.verdicts).toEqual([caught])
})

test('a test that fails with the mutant once and then no more catches nothing, and the others decide', async () => {
  const answers = [
    [ended(FIRST, 'failed'), done()],
    [ended(FIRST, 'passed'), done()],
    [ended(FIRST, 'passed'), done()],
  ]
  const ofSecond = (states: readonly ('passed' | 'failed')[]) => states.map((state) => [ended(SECOND, state), done()])
  const caught = await judged([FIRST, SECOND], [...answers, ...ofSecond(['failed', 'passed', 'failed'])])
  expect(caught.verdicts).toEqual([{ state: 'caught', by: `${SECOND}: not so` }])
  expect(caught.asked).toEqual([[FIRST, SECOND], [FIRST], [FIRST], [SECOND], [SECOND], [SECOND]])
  const { verdicts, asked } = await judged([FIRST, SECOND], [...answers, [ended(SECOND, 'passed'), done()]])
  expect(verdicts).toEqual([{ state: 'survived', by: '' }])
  expect(asked).toEqual([[FIRST, SECOND], [FIRST], [FIRST], [SECOND]])
})

test('a test that fails without the mutant as well catches nothing, and the others decide', async () => {
  const failed = ended(FIRST, 'failed')
  const { verdicts, asked } = await judged(
    [FIRST, SECOND],
    [
      [failed, done()],
      [failed, done()],
      [ended(SECOND, 'passed'), done()],
    ],
  )
  expect(verdicts).toEqual([{ state: 'survived', by: '' }])
  expect(asked).toEqual([[FIRST, SECOND], [FIRST], [SECOND]])
})

test('a run that does not end after its last test is ended, which catches nothing, and the next one has a new process', async () => {
  const { verdicts, processes } = await judged([FIRST], [[ended(FIRST, 'passed')]], { endMs: 0 })
  expect([verdicts, processes]).toEqual([[{ state: 'survived', by: '' }], 1])
  const failing = await judged(
    [FIRST],
    [[ended(FIRST, 'failed')], [ended(FIRST, 'passed'), done()], [ended(FIRST, 'failed'), done()]],
    { endMs: 0 },
  )
  expect([failing.verdicts, failing.processes]).toEqual([[{ state: 'caught', by: `${FIRST}: not so` }], 2])
})

test('what a stopped run found out is not asked again, but for a mutant that survived and has another test by now', async () => {
  const file = join(mkdtempSync(join(folder, 'kept-')), 'verdicts.json')
  const kept = () => new Verdicts(file, { afresh: false })
  const failed = [ended(FIRST, 'failed'), done()]
  const passed = [ended(FIRST, 'passed'), done()]
  expect((await judged([FIRST], [passed], { kept: kept() })).verdicts).toEqual([{ state: 'survived', by: '' }])
  const again = await judged([FIRST], [], { kept: kept() })
  expect([again.verdicts, again.asked]).toEqual([[{ state: 'survived', by: '' }], []])
  const caught = { state: 'caught', by: `${FIRST}: not so` }
  const more = await judged([FIRST, SECOND], [failed, passed, failed], { kept: kept() })
  expect([more.verdicts, more.asked.length]).toEqual([[caught], 3])
  expect((await judged([SECOND, FIRST], [], { kept: kept() })).verdicts).toEqual([caught])
  const without = await judged([SECOND], [[ended(SECOND, 'passed'), done()]], { kept: kept() })
  expect(without.verdicts).toEqual([{ state: 'survived', by: '' }])
  const forgotten = await judged([FIRST], [passed], { kept: new Verdicts(file, { afresh: true }) })
  expect(forgotten.asked).toEqual([[FIRST]])
})

test('a mutant whose tests did not start is asked again', async () => {
  const file = join(mkdtempSync(join(folder, 'kept-')), 'verdicts.json')
  const kept = new Verdicts(file, { afresh: false })
  await judged([FIRST], [[NOT_STARTED], [NOT_STARTED], [NOT_STARTED]], { kept })
  const { verdicts } = await judged([FIRST], [[ended(FIRST, 'passed'), done()]], { kept })
  expect(verdicts).toEqual([{ state: 'survived', by: '' }])
})

function chosen(path: string, tests: readonly string[]): string[] {
  const reach: Reach = { tests: {}, loaded: {} }
  addImports(reach, tests)
  const mutation = mutationsOf(path, textOf(path)).find(({ inFunction }) => inFunction !== null)
  if (!mutation) throw new Error(`nothing in ${path} can be mutated`)
  return testsFor(mutation, { reach, files: [path], budgetMs: 60_000 })
}

test('without a run, a test file counts as one that may notice whatever it imports, its helpers included', () => {
  expect(chosen('durable-objects/alarms.ts', [FIRST])).toEqual([FIRST])
  expect(chosen('src/routes/health.ts', ['test/node/mutate-judge.test.ts'])).toEqual([])
  expect(chosen('src/kits/shell/commands/tar/options.ts', ['test/unit/kits/shell/shell-corpus.test.ts'])).toHaveLength(
    1,
  )
})

test('what runs when a module is loaded may be noticed by whoever calls what imports that module', () => {
  const path = 'src/http/validation.ts'
  const mutation = mutationsOf(path, textOf(path)).find(({ inFunction }) => inFunction !== null)
  if (!mutation || mutation.inFunction === null) throw new Error(`nothing in ${path} can be mutated`)
  const [schemas, route] = ['src/routes/conversations/settings-schemas.ts', 'src/routes/conversations/settings.ts']
  const called = { [textKey(route)]: [0] }
  const tests: Reach['tests'] = { [FIRST]: { hash: 'x', state: 'passed', durationMs: 1, called } }
  const asked = (loaded: Reach['loaded']) =>
    testsFor(mutation, { reach: { tests, loaded }, files: [path, schemas, route], budgetMs: 60_000 })
  expect(asked({})).toEqual([])
  expect(asked({ [textKey(path)]: [mutation.inFunction] })).toEqual([FIRST])
})

test('a test that asks the running service may notice all of it, and the one named like the file comes first', () => {
  const [named, ...others] = [
    'test/integration/fork.test.ts',
    'test/integration/budget.test.ts',
    'test/integration/chat.test.ts',
  ]
  const path = 'durable-objects/conversation/lifecycle/fork-target.ts'
  const found = chosen(path, [...others, named])
  expect(found[0]).toBe(named)
  expect(found).toHaveLength(3)
})

test('a test file that was never run and lasts as long without the mutant catches nothing by its time', async () => {
  const stuck: SuiteMessage = { kind: 'begun', path: FIRST }
  const limits = { leastMs: 300 }
  const { verdicts, asked } = await judged(
    [FIRST, SECOND],
    [[stuck], [stuck], [ended(SECOND, 'passed'), done()]],
    limits,
  )
  expect(verdicts).toEqual([{ state: 'survived', by: '' }])
  expect(asked).toEqual([[FIRST, SECOND], [FIRST], [SECOND]])
  const endless = await judged([FIRST], [[stuck], [ended(FIRST, 'passed'), done()]], limits)
  expect(endless.verdicts).toEqual([{ state: 'caught', by: `the limit of time, in ${FIRST}` }])
})

test('a record is made anew or taken as it is kept, not both; a budget is a number of seconds', () => {
  expect(readOptions(['--as-kept', '--budget', '45'])).toMatchObject({ asKept: true, afresh: false, budgetMs: 45_000 })
  expect(readOptions([])).toMatchObject({ asKept: false, budgetMs: 180_000 })
  expect(() => readOptions(['--as-kept', '--afresh'])).toThrow('not both')
  expect(() => readOptions(['--budget', 'soon'])).toThrow('--budget')
})

test('a mutant that the compiler cannot read hides no other one that it refuses', () => {
  const root = mkdtempSync(join(folder, 'types-'))
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const options = { strict: true, skipLibCheck: true, types: [], lib: ['es2022'], target: 'es2022' }
  write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions: options, files: [MUTATED, 'src/lib/assert.ts', 'src/lib/sse-frame.ts'] }),
  )
  const [unreadable, illTyped, fine] = [MUTATED, 'src/lib/assert.ts', 'src/lib/sse-frame.ts'].map((path, at) => {
    write(path, textOf(path))
    const end = textOf(path).length
    const replacement = ['export const = 1', 'export const added: number = "a"', 'export const added = 1'][at] ?? ''
    return { ...someMutation(), path, start: end, end, line: 1, replacement }
  }) as [Mutation, Mutation, Mutation]
  const refused = refusedOf({ root, write, restore: (path) => write(path, textOf(path)) }, [fine, illTyped, unreadable])
  expect(refused).toEqual(new Set([illTyped, unreadable]))
})
