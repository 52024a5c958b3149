// Makes the state folder of the first release that the tests open, and records that release's responses about it:
//
//   git archive 055c3af | tar x -C /tmp/first && cp -al node_modules /tmp/first/
//   node test/support/first-release/make.ts /tmp/first
//
// The release itself makes both, so later tests compare with its real responses.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../../scripts/start/port.ts'
import { startScriptedModel } from '../scripted-model.ts'
import { keepAnswers, packState } from './archive.ts'
import { askerOf } from './ask.ts'
import { fill } from './fill.ts'
import { readAll } from './read.ts'

async function make(release: string): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-first-'))
  const [model, hook, service] = [await startScriptedModel(), await startHook(), await startRelease(release, stateDir)]
  try {
    const tick = async () => {
      await fetch(`${service.url}/cdn-cgi/handler/scheduled?cron=${encodeURIComponent('*/5 * * * *')}`)
    }
    const ask = askerOf(service.url)
    await fill(ask, { model, hook: hook.url, tick })
    keepAnswers(await readAll(ask))
  } finally {
    await service.stop()
    await model.close()
    hook.close()
  }
  packState(stateDir)
  rmSync(stateDir, { recursive: true })
}

/** Accepts every notification. */
async function startHook(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('{"code":0}'))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, close: () => server.close() }
}

async function startRelease(root: string, stateDir: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const port = await freePort()
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs')], {
    cwd: root,
    env: {
      ...process.env,
      PORT: String(port),
      BELLWETHER_STATE: stateDir,
      MARKET_DATA: 'sample',
      ALLOW_PRIVATE_NETWORK: '127.0.0.1',
      RATE_LIMIT_WRITES: 'off',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const isReady = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('ready ') && resolve())
  })
  await Promise.race([
    isReady,
    ended.then(() => {
      throw new Error('the release did not start')
    }),
  ])
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

const [release] = process.argv.slice(2)
if (release === undefined) throw new Error('which folder holds the first release?')
await make(release)
