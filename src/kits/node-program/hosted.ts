// The client of a program host (`scripts/programs`): sends a complete program, and receives its output and file changes
// as frames while it runs. Closing the answer ends the program.

import { z } from 'zod'
import { errorFields, log } from '../../lib/log.ts'
import { type Ending, IsolateError, type PreparedProgram, type ProgramPort } from './program-port.ts'
import type { OnReport } from './runtime/protocol.ts'
import { FrameReader, pack, unpack } from './wire.ts'

const Output = z.array(z.tuple([z.union([z.literal(1), z.literal(2)]), z.string()]))
const Mode = z.int().min(0).max(0o7777)
const Changes = z.array(
  z.union([
    z.object({ path: z.string(), kind: z.literal('gone') }),
    z.object({ path: z.string(), kind: z.literal('directory'), mode: Mode }),
    z.object({ path: z.string(), kind: z.literal('symlink'), target: z.string() }),
    z.object({ path: z.string(), kind: z.literal('file'), mode: Mode, bytes: z.instanceof(Uint8Array) }),
  ]),
)
const Count = z.int().min(0)
const Counts = z.object({ tests: Count, suites: Count, pass: Count, fail: Count, skipped: Count, todo: Count })
const End = z.object({ code: z.int(), tests: Counts.nullable(), why: z.string().optional() })

/** 128 plus the number of SIGINT: only what was reported until then is known. */
const INTERRUPTED: Ending = { code: 130, tests: null, output: [], changes: [] }

type HostedRun = { program: PreparedProgram; onReport: OnReport; signal: AbortSignal }

/** At the call's deadline the host itself ends the program, and reports this after the output until then. */
const CLOCK_TOLERANCE_MS = 50

/** `group` identifies users who share the host's slots: one group never gets all of them. */
export function hostedPrograms(host: Pick<Fetcher, 'fetch'>, group: string): ProgramPort {
  return {
    async run(program, { onReport, signal }) {
      const stop = new AbortController()
      const onAbort = () => {
        if (Date.now() < program.deadline - CLOCK_TOLERANCE_MS) stop.abort(signal.reason)
      }
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) onAbort()
      try {
        return await exchange(host, group, { program, onReport, signal: stop.signal })
      } catch (error) {
        if (stop.signal.aborted) return INTERRUPTED
        throw error
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}

async function exchange(host: Pick<Fetcher, 'fetch'>, group: string, sent: HostedRun): Promise<Ending> {
  const { modules, input, files, deadline, cpuMs } = sent.program
  const answer = await reached(() =>
    host.fetch('http://programs/run', {
      method: 'POST',
      headers: { 'x-program-deadline': String(deadline), 'x-program-group': encodeURIComponent(group) },
      body: pack({ modules, input, deadline, cpuMs }, files),
      signal: sent.signal,
    }),
  )
  if (!answer.ok || answer.body === null) throw new IsolateError(`Programs cannot be run now: ${await answer.text()}`)
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  try {
    return await readAll(reader, sent)
  } finally {
    // No effect on an answer that was read to its end; otherwise it ends the program.
    await reader.cancel().catch((error: unknown) => log.debug('programs.left', errorFields(error)))
  }
}

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>, sent: HostedRun): Promise<Ending> {
  const frames = new FrameReader()
  for (;;) {
    const { done, value } = await reached(() => reader.read())
    if (done) throw new IsolateError('The program host went away')
    for (const { kind, payload } of frames.push(value)) {
      const text = () => new TextDecoder().decode(payload)
      if (kind === 'failure') throw new Error(text())
      if (kind === 'ending') return { ...withoutAbsent(End.parse(JSON.parse(text()))), output: [], changes: [] }
      const report =
        kind === 'output'
          ? { output: Output.parse(JSON.parse(text())), changes: [] }
          : { output: [], changes: Changes.parse(unpack(payload).entries) }
      if ((await sent.onReport(report)).stop && Date.now() < sent.program.deadline - CLOCK_TOLERANCE_MS)
        return INTERRUPTED
    }
  }
}

function withoutAbsent({ why, ...rest }: z.infer<typeof End>): Pick<Ending, 'code' | 'tests' | 'why'> {
  return why === undefined ? rest : { ...rest, why }
}

async function reached<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw new IsolateError('The program host cannot be reached', { cause: error })
  }
}
