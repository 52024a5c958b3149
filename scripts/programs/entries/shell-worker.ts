// A Worker that runs shell scripts over files it is given, with the commands that an agent has: as much of the service as a
// program passes through, and small enough to be made for a test.

import { hostedPrograms, nodeCommands, ownIsolates } from '../../../src/kits/node-program/index.ts'
import { runScript, workspaceCommands } from '../../../src/kits/shell/index.ts'
import { MemoryFileSystem } from '../../../test/support/memory-file-system.ts'
import type { ShellJob, ShellOutcome } from '../shell-job.ts'

type Bindings = { LOADER: WorkerLoader; PROGRAMS?: Fetcher }

// biome-ignore lint/style/noDefaultExport: a Worker's entry is its default export
export default {
  async fetch(request: Request, { LOADER, PROGRAMS }: Bindings): Promise<Response> {
    if (request.method === 'GET') return new Response('ok')
    const job: ShellJob = await request.json()
    const fs = new MemoryFileSystem()
    for (const [path, content] of Object.entries(job.files)) {
      fs.makeDirectory(path.slice(0, path.lastIndexOf('/')), { recursive: true })
      await fs.write(path, new TextEncoder().encode(content))
    }
    const programs = PROGRAMS ? hostedPrograms(PROGRAMS, job.group) : ownIsolates(LOADER)
    const start = Date.now()
    const { output, exitCode, timedOut } = await runScript({
      fs,
      script: job.script,
      cwd: job.cwd,
      env: {},
      commands: [
        ...workspaceCommands({
          network: { policy: { allowPrivate: [], personMayUseLoopback: false, ownOrigins: [], marker: null } },
        }),
        ...nodeCommands({ programs }),
      ],
      limits: { timeoutMs: job.timeoutMs, maxOutputChars: job.maxOutputChars },
      signal: job.stopAfterMs === null ? request.signal : AbortSignal.timeout(job.stopAfterMs),
    })
    const tookMs = Date.now() - start
    const left: Record<string, string> = {}
    for (const path of job.wanted) {
      if (fs.list(path.slice(0, path.lastIndexOf('/'))).some(({ name }) => path.endsWith(`/${name}`)))
        left[path] = new TextDecoder().decode(await fs.read(path))
    }
    return Response.json({ output, exitCode, timedOut, tookMs, files: left } satisfies ShellOutcome)
  },
}
