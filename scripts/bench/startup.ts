// How long `npm start` takes until the first request would succeed, on an empty state folder and once more on the same;
// and the processor time that the Worker itself takes until it could answer, which the platform limits.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { startService } from '../start/service.ts'
import { CONFIG, runtimeSettings, runWrangler, SMALL } from './bundle.ts'
import { median } from './stats.ts'

export type Startup = {
  readonly firstSeconds: number
  readonly againSeconds: number
  readonly workerCpuMs: number
  /** The same of a bare Hono Worker. */
  readonly helloCpuMs: number
}

const PROFILES = 3
const IDLE = new Set(['(idle)', '(program)'])

const Profile = z.object({
  nodes: z.array(z.object({ id: z.number(), callFrame: z.object({ functionName: z.string() }) })),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
})

export async function measureStartup(outDir: string): Promise<Startup> {
  const stateDir = join(outDir, 'state-start')
  const hello = join(outDir, 'hello-startup.json')
  writeFileSync(hello, JSON.stringify({ name: 'hello', main: SMALL.hello.file, ...runtimeSettings() }))
  return {
    firstSeconds: await secondsToReady(stateDir),
    againSeconds: await secondsToReady(stateDir),
    workerCpuMs: await startupCpuMs(CONFIG, outDir),
    helloCpuMs: await startupCpuMs(hello, outDir),
  }
}

async function secondsToReady(stateDir: string): Promise<number> {
  const startedAt = performance.now()
  const service = await startService({ stateDir })
  const seconds = (performance.now() - startedAt) / 1000
  await service.stop()
  return seconds
}

async function startupCpuMs(config: string, outDir: string): Promise<number> {
  const file = join(outDir, 'startup.cpuprofile')
  const times: number[] = []
  for (let i = 0; i < PROFILES; i++) {
    const args = ['check', 'startup', `--args=--minify --config ${config}`, `--outfile=${file}`]
    await runWrangler('Profiling the start of the Worker', args)
    times.push(activeMs(Profile.parse(JSON.parse(readFileSync(file, 'utf8')))))
  }
  return median(times)
}

function activeMs({ nodes, samples, timeDeltas }: z.infer<typeof Profile>): number {
  const idle = new Set(nodes.filter(({ callFrame }) => IDLE.has(callFrame.functionName)).map(({ id }) => id))
  const micros = samples.reduce((sum, id, i) => (idle.has(id) ? sum : sum + (timeDeltas[i] ?? 0)), 0)
  return micros / 1000
}
