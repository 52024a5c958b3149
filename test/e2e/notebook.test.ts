// A notebook as an agent uses it: a service as `npm start` makes it, a runner with a real kernel, and a scripted model.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT } from '../../scripts/start/paths.ts'
import { type Service, startService } from '../../scripts/start/service.ts'
import { findChromium } from '../support/chromium.ts'
import { startScriptedModel } from '../support/scripted-model.ts'
import { openPage } from './browser.ts'
import { seriousFaults } from './person.ts'

type Event = {
  observation?: string
  action?: string
  content: string
  message?: string
  extras: { image_urls?: string[] | null; code?: string }
}

const hasKernel = spawnSync('/usr/bin/python3', ['-c', 'import ipykernel, jupyter_client, matplotlib']).status === 0
if (!hasKernel && process.env.REQUIRE_ALL === '1') throw new Error('python3-ipykernel is not installed')
const kernelTest = hasKernel ? test : test.skip

let service: Service
let runner: ChildProcess | null = null
const folder = mkdtempSync(join(tmpdir(), 'bellwether-notebook-'))
const stateDir = join(folder, 'state')

/** Resolves when it is connected to the pool. */
async function startRunner(): Promise<void> {
  const args = ['--url', service.url, '--key-file', join(stateDir, 'runner-token'), '--isolation', 'none']
  const child = spawn(
    process.execPath,
    [join(ROOT, 'runner/src/main.ts'), ...args, '--workspaces', join(folder, 'copies')],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  runner = child
  let log = ''
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the runner ended: ${log}`)))
    child.stderr.on('data', (text) => {
      log += String(text)
      if (log.includes('pool.connected')) resolve()
    })
  })
}

beforeAll(async () => {
  if (!hasKernel) return
  service = await startService({ stateDir, env: { MARKET_DATA: 'sample' } })
  await startRunner()
})

afterAll(async () => {
  runner?.kill('SIGKILL')
  await service?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function call<T>(path: string, body?: unknown): Promise<T> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(`${service.url}${path}`, body === undefined ? {} : post)
  return (await response.json()) as T
}

/** The console shows the picture, and loads it from nowhere else. */
async function seenInConsole(browser: string | null, id: string): Promise<void> {
  if (browser === null) return
  const { page, faults } = await openPage({ browser, origin: service.url, viewport: { width: 1280, height: 800 } })
  await page.goto(`${service.url}/conversations/${id}`)
  const picture = page.getByRole('img', { name: 'Picture 1' })
  await picture.waitFor()
  expect(
    await picture.evaluate((image) => (image instanceof HTMLImageElement ? image.naturalWidth : 0)),
  ).toBeGreaterThan(50)
  expect(await seriousFaults(page)).toEqual([])
  expect(faults).toEqual([])
}

const cell = (id: string, code: string) => ({ calls: [{ id, name: 'execute_ipython_cell', arguments: { code } }] })

kernelTest(
  'a plot is a picture event, a cell outlives a kill of the service, and the next has a new kernel after one of the runner',
  async () => {
    const model = await startScriptedModel()
    const slow =
      'x = 41\nopen("begun.txt", "w").close()\nimport time\ntime.sleep(4)\nopen("count.txt", "a").write("ran ")\nprint("slept")'
    const plot = '%matplotlib inline\nimport matplotlib.pyplot as p\np.plot([1, 2])\np.show()\nx + 1'
    const replies = [cell('a', slow), cell('b', plot), { text: 'one' }, cell('c', '"x" in dir()'), { text: 'two' }]
    model.setScript('notebook', { replies })
    await call('/api/settings', {
      llm_model: 'openai/scripted',
      llm_base_url: `${model.url}/notebook/v1`,
      llm_api_key: 'sk-0123456789',
    })
    const { conversation_id: id } = await call<{ conversation_id: string }>('/api/conversations?runtime=runner', {
      initial_user_msg: 'plot',
    })
    const path = `/api/conversations/${id}`
    const events = async () => (await call<{ events: Event[] }>(`${path}/events?limit=100`)).events
    const said = (text: string) =>
      expect.poll(async () => (await events()).some(({ message }) => message === text)).toBe(true)
    const cells = async () => (await events()).filter(({ observation }) => observation === 'run_ipython')

    await expect.poll(() => call(`${path}/list-files`).catch(() => [])).toContain('begun.txt')
    expect(service.kill9Runtime()).toBeGreaterThan(0)
    await said('one')
    const [slept, plotted] = await cells()
    expect(slept?.content).toMatch(
      /^slept\n\[Jupyter current working directory: .*\]\n\[Jupyter Python interpreter: .*python3\]$/,
    )
    expect(plotted?.content).toMatch(/^42\n\[picture 1 of 1\]\n/)
    expect(plotted?.extras.image_urls).toEqual([expect.stringMatching(/^data:image\/png;base64,iVBORw0KGgo/)])
    expect(await call(`${path}/select-file?file=count.txt`)).toEqual({ code: 'ran ' })
    await seenInConsole(findChromium(), id)

    runner?.kill('SIGKILL')
    await startRunner()
    await call(`${path}/events`, { action: 'message', args: { content: 'again' } })
    await said('two')
    expect((await cells()).at(-1)?.content).toMatch(/^\[This is a new kernel: .* is gone with its runner.*\]\nFalse\n/)
    await model.close()
  },
)
