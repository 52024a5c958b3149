// Runners under faults: conversations whose commands run on two real runners, while the service, a runner, its sandboxes and
// its connection are killed (SIGKILL), one or two at once, in commands and in transfers. Afterwards no command has run twice, no
// outcome of a surviving machine is lost, every file has the content that its step wrote, and every step has ended.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { startScriptedModel } from '../../test/support/scripted-model.ts'
import { answerWithCall } from './lent/calls.ts'
import { type Books, LentConversation, noBooks } from './lent/conversation.ts'
import { Machine } from './lent/machine.ts'
import { stepOf } from './lent/steps.ts'
import { Moments } from './moments.ts'
import { type MortalService, startMortalService } from './mortal-service.ts'
import { SteadyClient } from './steady-client.ts'

const CONVERSATIONS = 3
/** The number of these conversations whose steps are tool calls; they come first. */
const CALLING = 1
/** A killed machine is restarted after at most this time; the other one may take over its conversations sooner. */
const AWAY_MS = 3_000
const MOMENT_PATIENCE_MS = 3_000
const AFTER_BEGUN_MS = 900

/** Up to 45 s, which is longer than the interval of the runners' heartbeats. */
const heldMs = () => 1_000 + Math.random() ** 2 * 44_000

type Deps = { service: MortalService; machines: Machine[]; moments: Moments<'begun'>; lastFaultAt: number }

const FAULTS: Readonly<Record<string, (deps: Deps, machine: Machine) => Promise<unknown>>> = {
  service: ({ service }) => service.kill(),
  deploy: ({ service }) => service.deploy(),
  runner: (_, machine) => restarted(machine),
  sandbox: async (_, machine) => machine.killSandboxes(),
  connection: async (_, machine) => machine.relay.cut(),
  'service and runner': ({ service }, machine) => Promise.all([service.kill(), restarted(machine)]),
  'service and connection': ({ service }, machine) => {
    machine.relay.cut()
    return service.kill()
  },
  'both runners': ({ machines }) => Promise.all(machines.map(restarted)),
  'service held up': ({ service }) => service.holdUp(heldMs()),
  // Other faults continue meanwhile.
  'runner held up': async (_, machine) => machine.holdUp(heldMs()),
  'connection, then service held up': ({ service }, machine) => {
    machine.relay.cut()
    return service.holdUp(heldMs())
  },
}

export async function lentFaults({ kills }: { kills: number }): Promise<boolean> {
  const books = await lentBooks({ kills, say: (text) => console.log(text) })
  const found = wrongIn(books)
  console.log(
    `steps                  ${books.steps} (${books.calls} calls of a tool), of which ${books.ended} ended, ${books.unknown} have an unknown outcome and ${books.refused} had no machine`,
  )
  const back = [...books.backMs].sort((a, b) => a - b)
  console.log(
    `an outcome after a death  ${Math.round(back[back.length >> 1] ?? 0)} ms in the median, ${Math.round(back.at(-1) ?? 0)} ms at most`,
  )
  console.log(`given up while the machine lived, and told when it was back  ${books.late}`)
  for (const [name, texts] of Object.entries(found)) {
    console.log(`${name.padEnd(23)}${texts.length}`)
    for (const text of texts.slice(0, 10)) console.log(`    ${text}`)
  }
  return Object.values(found).every((texts) => texts.length === 0)
}

export const wrongIn = ({ twice, lost, differing, torn, stuck, ownEnds }: Books): Record<string, string[]> => ({
  'commands run twice': twice,
  'outcomes lost': lost,
  'files that differ': differing,
  'torn files': torn,
  'stuck steps': stuck,
  'runners that ended': ownEnds,
})

export async function lentBooks({ kills, say }: { kills: number; say: (text: string) => void }): Promise<Books> {
  const token = randomBytes(32).toString('hex')
  const model = await startScriptedModel({ respond: answerWithCall })
  const service = await startMortalService({
    RUNNER_TOKEN: token,
    MAX_RUNNING_LOOPS: '1000',
    LOG_LEVEL: 'error',
    LLM_MODEL: 'openai/scripted',
    LLM_BASE_URL: `${model.url}/lent/v1`,
    LLM_API_KEY: 'sk-scripted',
  })
  const port = Number(new URL(service.url).port)
  const deps: Deps = { service, machines: [], moments: new Moments(), lastFaultAt: 0 }
  const client = new SteadyClient(service.url)
  const books = noBooks()
  const begun: LentConversation[] = []
  try {
    // A step that is a tool call needs two answers of the model.
    await client.ask('/api/settings', { json: { max_iterations: 1_000_000 } })
    for (const name of ['one', 'two']) deps.machines.push(await Machine.start(name, port, token))
    await beginAll(deps, { client, books, begun })
    const over = { isSo: false }
    const working = begun.map((one) => keepBusy(one, over))
    await killAgainAndAgain(deps, kills, say)
    over.isSo = true
    await Promise.all(working)
    for (const one of begun) await one.auditLate()
    books.ownEnds.push(...deps.machines.flatMap(({ ownEnds }) => ownEnds))
    say(`the runtime ended by itself  ${service.ownDeaths()} times`)
    return books
  } finally {
    for (const one of begun) one.close()
    for (const machine of deps.machines) await machine.stop()
    await service.stop()
    await model.close()
  }
}

async function beginAll(
  deps: Deps,
  { client, books, begun }: { client: SteadyClient; books: Books; begun: LentConversation[] },
): Promise<void> {
  const outside = {
    ...{ client, machines: deps.machines, books, onBegun: () => deps.moments.happened('begun') },
    lastFaultAt: () => deps.lastFaultAt,
  }
  for (let at = 0; at < CONVERSATIONS; at++) {
    const one = new LentConversation(`lent${at}`, outside)
    begun.push(one)
    await one.begin(at < CALLING)
  }
}

/** One more step at the end, without faults. */
async function keepBusy(one: LentConversation, over: { isSo: boolean }): Promise<void> {
  for (let count = 0; ; count++) {
    const isLast = over.isSo
    if (!(await one.take(stepOf(`${one.id}-${count}`, Math.random))) || isLast) return
  }
}

async function killAgainAndAgain(deps: Deps, kills: number, say: (text: string) => void): Promise<void> {
  const names = Object.keys(FAULTS)
  for (let kill = 0; kill < kills; kill++) {
    await deps.moments.next('begun', MOMENT_PATIENCE_MS)
    await sleep(Math.random() * AFTER_BEGUN_MS)
    const machine = deps.machines[kill % deps.machines.length]
    // All kinds are equally frequent.
    const name = names[kill % names.length] ?? 'service'
    if (machine !== undefined) await FAULTS[name]?.(deps, machine)
    deps.lastFaultAt = Math.max(
      performance.now(),
      ...deps.machines.flatMap(({ heldUp }) => heldUp.map(({ until }) => until)),
    )
    if ((kill + 1) % 20 === 0) say(`  ${kill + 1} kills`)
  }
}

async function restarted(machine: Machine): Promise<void> {
  await machine.kill()
  await sleep(Math.random() * AWAY_MS)
  await machine.start()
}
