// The Worker inside a program's process: loads one program into an isolate and answers with frames. It is loaded file by
// file, as its types are stripped, so what it imports may import nothing but types in turn.

import { runLoaded } from '../../../src/kits/node-program/own-isolate.ts'
import type { PreparedProgram } from '../../../src/kits/node-program/program-port.ts'
import type { Report, SnapshotFile } from '../../../src/kits/node-program/runtime/protocol.ts'
import { frame, pack, unpack } from '../../../src/kits/node-program/wire.ts'

type Bindings = { LOADER: WorkerLoader }

// biome-ignore lint/style/noDefaultExport: a Worker's entry is its default export
export default {
  async fetch(request: Request, env: Bindings, context: ExecutionContext): Promise<Response> {
    // The service made the package; the host only passes it on and does not parse it.
    const { head, entries } = unpack(new Uint8Array(await request.arrayBuffer()))
    const program = { ...(head as Omit<PreparedProgram, 'files'>), files: entries as SnapshotFile[] }
    const { readable, writable } = new IdentityTransformStream()
    context.waitUntil(answer(program, env, writable.getWriter()))
    return new Response(readable)
  },
}

async function answer(program: PreparedProgram, env: Bindings, writer: WritableStreamDefaultWriter): Promise<void> {
  const report = async ({ output, changes }: Pick<Report, 'output' | 'changes'>) => {
    if (output.length > 0) await writer.write(frame('output', JSON.stringify(output)))
    if (changes.length > 0) await writer.write(frame('changes', pack({}, changes)))
    return { stop: false }
  }
  try {
    const ending = await runLoaded(env.LOADER, { ...program, isWatched: true }, report)
    await report(ending)
    await writer.write(frame('ending', JSON.stringify({ code: ending.code, tests: ending.tests })))
  } catch (error) {
    await writer.write(frame('failure', error instanceof Error ? error.message : String(error)))
  }
  await writer.close()
}
