// A real Jupyter kernel, in a real sandbox where the machine has one.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { cellOutputIn, plainOutput } from '../../src/runners/output.ts'
import { findKernelPython } from '../src/tools.ts'
import { startRunner } from './support/runner-process.ts'
import { sandboxed } from './support/sandboxed.ts'
import type { CallOptions, Session } from './support/stand-in-session.ts'

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin'
const python = findKernelPython(SYSTEM_PATH)
if (python === null && process.env.REQUIRE_ALL === '1') throw new Error('python3-ipykernel is not installed')
if (python === null) process.stderr.write('skipped: there is no ipykernel\n')
const kernelTest = python === null ? test.skip : sandboxed

async function started(): Promise<Awaited<ReturnType<typeof startRunner>> & { session: Session }> {
  const lent = await startRunner(['--isolation', 'bwrap', '--network', 'none'])
  const session = await lent.service.open('c1')
  await session.push()
  return { ...lent, session }
}

async function cell(session: Session, code: string, options: CallOptions = {}) {
  const { output, outcome } = await session.run(code, { kind: 'cell', ...options })
  const { text, pictures } = cellOutputIn(output)
  return { text: plainOutput(text), pictures, outcome }
}

kernelTest('variables stay over cells, an error is its traceback, and a plot arrives as a picture', async () => {
  const { session, service } = await started()
  expect((await service.runner()).runner.tools).toContainEqual({
    name: 'ipykernel',
    version: expect.stringMatching(/^\d/),
  })
  expect(await cell(session, 'x = 20\nx + 1')).toMatchObject({
    text: '21\n',
    outcome: { state: 'ended', exitCode: 0, cwd: '/workspace', interpreter: python?.file },
  })
  expect((await cell(session, 'print(x)')).text).toBe('20\n')
  const failed = await cell(session, '1 / 0')
  expect([failed.outcome.exitCode, failed.text]).toEqual([
    1,
    expect.stringContaining('ZeroDivisionError: division by zero'),
  ])
  expect(failed.text).not.toContain('\u001b')
  const plot = 'import matplotlib.pyplot as p\np.plot([1, 2, 3])\np.show()'
  const shown = await cell(session, `%matplotlib inline\n${plot}`)
  expect([shown.text, shown.pictures.length]).toEqual(['', 1])
  const bytes = Buffer.from(shown.pictures[0]?.replace('data:image/png;base64,', '') ?? '', 'base64')
  expect(bytes.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
})

kernelTest('a table is its text, a picture of another kind as well, and output without a text says so', async () => {
  const { session } = await started()
  const html = 'class T:\n  def _repr_html_(self): return "<b>t</b>"\n  def __repr__(self): return "plain t"\nT()'
  expect((await cell(session, html)).text).toBe('plain t\n')
  const only =
    'from IPython.display import display\ndisplay({"image/svg+xml": "<svg/>", "text/plain": "a drawing"}, raw=True)'
  expect(await cell(session, only)).toMatchObject({ text: 'a drawing\n', pictures: [] })
})

kernelTest('files of a cell are with its outcome, and files of the workspace are there before it', async () => {
  const { session } = await started()
  session.tree.write('in.txt', 'from the service')
  await session.push(session.tree.revision - 1)
  const { key } = await session.start('open("out.txt", "w").write(open("in.txt").read().upper())', { kind: 'cell' })
  const { tree } = await session.ended(key)
  const node = tree.get('out.txt')
  expect(node?.kind === 'file' && node.bytes.toString()).toBe('FROM THE SERVICE')
})

kernelTest('input is refused with a word, and a cell sees the variables that came with it', async () => {
  const { session } = await started()
  expect((await cell(session, 'input("name? ")')).text).toContain('A cell cannot ask for input')
  expect((await cell(session, 'import os; print(os.environ["TOKEN"])', { env: { TOKEN: 'a-secret' } })).text).toBe(
    'a-secret\n',
  )
  expect((await cell(session, 'print(os.environ["TOKEN"])', { env: { TOKEN: "an'other" } })).text).toBe("an'other\n")
})

kernelTest('a cell that goes quiet goes on: waited for, interrupted, and another one refused', async () => {
  const { session } = await started()
  const slow = 'import time\nprint("begun", flush=True)\ntime.sleep(1000)'
  const first = await cell(session, slow, { quietMs: 500 })
  expect(first.outcome).toMatchObject({ state: 'quiet', exitCode: -1 })
  let seen = first.text
  while (seen === '') seen = (await cell(session, '', { softMs: 200 })).text
  expect(seen).toBe('begun\n')
  expect((await cell(session, 'print(1)')).outcome).toMatchObject({
    state: 'refused',
    text: expect.stringContaining('interrupt'),
  })
  expect((await cell(session, '', { softMs: 100 })).outcome.state).toBe('soft')
  const ended = await cell(session, '', { kind: 'interrupt' })
  expect([ended.outcome.state, ended.text]).toEqual(['ended', expect.stringContaining('KeyboardInterrupt')])
  expect((await cell(session, '', { kind: 'interrupt' })).outcome.state).toBe('refused')
  expect((await cell(session, 'print("still", time.__name__)')).text).toBe('still time\n')
})

kernelTest('the stop interrupts a cell, and kills the kernel of one that will not end', async () => {
  const { session } = await started()
  await cell(session, 'kept = 1\nimport time')
  const { key } = await session.start('print("go", flush=True)\ntime.sleep(1000)', { kind: 'cell' })
  await session.until(() => session.outputOf(key).includes('go'))
  await session.rpc?.call('call/stop', { key })
  expect((await session.ended(key)).outcome.state).toBe('ended')
  expect((await cell(session, 'print(kept)')).text).toBe('1\n')
  const stubborn =
    'print("go", flush=True)\nwhile True:\n  try:\n    time.sleep(1000)\n  except KeyboardInterrupt: pass'
  const second = await session.start(stubborn, { kind: 'cell' })
  await session.until(() => session.outputOf(second.key).includes('go'))
  await session.rpc?.call('call/stop', { key: second.key })
  expect((await session.ended(second.key)).outcome).toMatchObject({ state: 'killed' })
  expect((await cell(session, 'print("kept" in dir())')).text).toMatch(/all variables are gone\.\]\nFalse\n$/)
})

kernelTest('a stop in the first moment of a cell interrupts it as well, and the variables stay', async () => {
  const { session } = await started()
  await cell(session, 'kept = 1\nimport time')
  for (let i = 0; i < 6; i++) {
    const { key } = await session.start('time.sleep(1000)', { kind: 'cell' })
    if (i % 2 === 0) await session.until(() => session.outputOf(key).length > 0)
    await session.rpc?.call('call/stop', { key })
    expect((await session.ended(key)).outcome.state).toBe('ended')
  }
  expect((await cell(session, 'print(kept)')).text).toBe('1\n')
})

kernelTest('a kernel that dies is told, a restart is one, and the next cell has a new kernel', async () => {
  const { session } = await started()
  const died = await cell(session, 'x = 1\nimport os\nos.kill(os.getpid(), 9)')
  expect(died.outcome).toMatchObject({ state: 'lost', text: expect.stringContaining('The kernel died (signal 9)') })
  expect((await cell(session, 'x = 2\nprint(x)')).text).toBe('2\n')
  const again = await cell(session, 'print("x" in dir())', { kind: 'restart' })
  expect(again.text).toBe('False\n')
  expect((await cell(session, '', { kind: 'restart' })).outcome).toMatchObject({
    state: 'ended',
    text: expect.stringContaining('restarted'),
  })
})

kernelTest('a flood keeps its beginning and its end, and the runner its memory', async () => {
  const { session, runner } = await started()
  const flood = 'for i in range(400_000): print("line", i, "x" * 40)'
  const { text, outcome } = await cell(session, flood)
  expect(outcome.state).toBe('ended')
  expect(text.startsWith('line 0 x')).toBe(true)
  expect(text).toMatch(/\[\.\.\. \d+ characters of output were not kept \.\.\.\]/)
  expect(text.trimEnd().endsWith(`line 399999 ${'x'.repeat(40)}`)).toBe(true)
  expect(text.length).toBeLessThan(500_000)
  const status = spawnSync('cat', [`/proc/${runner.child.pid}/status`]).stdout.toString()
  expect(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])).toBeLessThan(400 * 1024)
})

kernelTest(
  'a broken connection costs a cell nothing; after the death of the runner its outcome is unknown and it is not run again',
  async () => {
    const { session, service, restart, runner } = await started()
    const counted = 'open("/workspace/count", "a").write("x")\nimport time\nprint("in", flush=True)\n'
    const first = await session.start(`${counted}time.sleep(1)\nprint("out")`, { kind: 'cell' })
    await session.until(() => session.outputOf(first.key).includes('"in'))
    session.cut()
    const { output, tree } = await session.ended(first.key)
    expect(cellOutputIn(output).text).toBe('in\nout\n')
    const node = tree.get('count')
    expect(node?.kind === 'file' && node.bytes.toString()).toBe('x')
    const second = await session.start(`${counted}time.sleep(1000)`, { kind: 'cell' })
    await session.until(() => session.outputOf(second.key).includes('"in'))
    await runner.kill()
    await restart()
    const back = await service.open('c1')
    await back.push()
    expect(await back.rpc?.call('call/query', { key: second.key })).toEqual({ state: 'unknown' })
    const again = await back.start(counted, { kind: 'cell', key: second.key })
    expect(again.state).toBe('unknown')
  },
)

kernelTest('what is no picture, and messages that are none, cost the kernel nothing', async () => {
  const { session } = await started()
  await cell(session, 'kept = 1\nfrom IPython.display import display\ns = get_ipython().kernel.session')
  const odd = ['12', '"not base64 !!"', '"AAAA="', '["AAAA"]', 'None', '""']
  for (const value of odd) {
    const shown = await cell(session, `display({"image/png": ${value}, "text/plain": "its text"}, raw=True)`)
    expect([value, shown.text, shown.pictures, shown.outcome.state]).toEqual([value, 'its text\n', [], 'ended'])
  }
  const send = (kind: string, content: string) =>
    cell(session, `k = get_ipython().kernel\ns.send(k.iopub_socket, "${kind}", ${content}, parent=k.get_parent())`)
  for (const [kind, content] of [
    ['stream', '{"text": 5}'],
    ['stream', '{}'],
    ['display_data', '{"data": 7}'],
    ['error', '{"traceback": [1]}'],
  ] as const)
    expect((await send(kind, content)).text).toContain('cannot be read')
  expect((await cell(session, 'print(kept)')).text).toBe('1\n')
})
